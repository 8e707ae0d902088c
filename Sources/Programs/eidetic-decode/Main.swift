import Glibc

/// The program of decoding processes, which applications start for images that they do not trust.
///
/// Such a process never reaches `main`: EideticSandbox decodes before it.
@main
struct Main {
    static func main() {
        let message = "eidetic-decode decodes images for other programs, which start it.\n"
        _ = write(STDERR_FILENO, message, message.utf8.count)
        exit(64)
    }
}
