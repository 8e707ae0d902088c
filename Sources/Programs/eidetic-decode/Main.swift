import EideticSandbox
import Glibc

/// The program of decoding processes, which applications start for images that they do not trust.
@main
struct Main {
    static func main() {
        guard DecodeHelper.isRequested else {
            let message = "eidetic-decode decodes images for other programs, which start it.\n"
            _ = write(STDERR_FILENO, message, message.utf8.count)
            exit(64)
        }
        DecodeHelper.run()
    }
}
