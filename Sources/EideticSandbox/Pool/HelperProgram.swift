import EideticCore
import Glibc

/// A program that can be started as a decoding process.
package struct HelperProgram: Sendable, Hashable {
    /// The path.
    package let path: String
    /// The arguments behind the name of the program.
    package let arguments: [String]

    package init(path: String, arguments: [String] = [DecodeHelper.argument]) {
        (self.path, self.arguments) = (path, arguments)
    }

    /// The environment of the process: what the loader of its libraries needs, and settings of its own.
    package static var environment: [String] {
        let names: [String] = ["LD_LIBRARY_PATH", "ASAN_OPTIONS", "TSAN_OPTIONS"]
        let kept = names.compactMap { name in
            getenv(name).map { value in "\(name)=\(String(cString: value))" }
        }
        // A second arena of the allocator would occupy 64 MiB of the address space; a crash is reported by its end.
        return kept + ["MALLOC_ARENA_MAX=2", "SWIFT_BACKTRACE=enable=no", "LC_ALL=C"]
    }
}

/// The places at which the program of decoding processes is searched.
package enum HelperLocation {
    /// The name of the program that can do nothing else.
    package static let programName = "eidetic-decode"

    private struct Settings {
        var path: String?
        var isOwnProgram = false
    }

    private static let settings = Guarded(Settings())

    /// The path that the application has set; `nil` for the places of an installation.
    package static var configuredPath: String? {
        get { settings.withLock { $0.path } }
        set { settings.withLock { $0.path = newValue } }
    }

    /// Records that this program itself can be started as a decoding process.
    package static func useOwnProgram() { settings.withLock { $0.isOwnProgram = true } }

    /// The programs that are there, the preferred one first.
    ///
    /// A configured path is the only one. Otherwise `eidetic-decode` beside this program or in `../libexec`, this
    /// program itself if it has said so, `eidetic-decode` in `PATH` and in the system's `libexec`, and `eidetic` in
    /// `PATH`.
    package static var programs: [HelperProgram] {
        let (configured, isOwn) = settings.withLock { ($0.path, $0.isOwnProgram) }
        if let configured { return existing([configured]) }
        let own = try? FileSystem().linkTarget(of: "/proc/self/exe")
        let directory = own.flatMap { path in path.lastIndex(of: "/").map { String(path[..<$0]) } }
        let beside = directory.map { ["\($0)/\(programName)", "\($0)/../libexec/\(programName)"] } ?? []
        let search = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
        let directories = search.split(separator: ":").filter { $0.hasPrefix("/") }.map(String.init)
        let installed =
            (directories + ["/usr/local/libexec", "/usr/libexec"]).map { "\($0)/\(programName)" }
            + directories.map { "\($0)/eidetic" }
        return existing(beside + (isOwn ? ["/proc/self/exe"] : []) + installed)
    }

    private static func existing(_ paths: [String]) -> [HelperProgram] {
        paths.filter { access($0, X_OK) == 0 }.map { HelperProgram(path: $0) }
    }
}
