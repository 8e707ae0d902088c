import CLinux
import EideticCore
import Glibc

/// A program that can be started as a decoding process.
package struct HelperProgram: Sendable, Hashable {
    package let path: String
    /// The arguments behind the name of the program.
    package let arguments: [String]

    package init(path: String, arguments: [String] = [DecodeHelper.argument]) {
        self.path = path
        self.arguments = arguments
    }

    /// Returns the program with the formats whose libraries it is to load; another program as it is.
    func loading(_ formats: Set<ImageFormat>) -> HelperProgram {
        guard arguments == [DecodeHelper.argument] else { return self }
        return HelperProgram(path: path, arguments: arguments + formats.map(\.rawValue).sorted())
    }

    /// The environment of the process: what the loader of its libraries and fonts need, and settings of its own.
    package var environment: [String] {
        let fonts = arguments.contains(ImageFormat.svg.rawValue) ? HelperFonts.variables : []
        // Texts of SVG and the choice of glyphs depend on the user's languages, which no other format does.
        let languages = arguments.contains(ImageFormat.svg.rawValue) ? Self.languages : []
        let names: [String] = ["LD_LIBRARY_PATH", "ASAN_OPTIONS", "TSAN_OPTIONS"] + fonts + languages
        let kept = names.compactMap { name in
            secure_getenv(name).map { value in "\(name)=\(String(cString: value))" }
        }
        // A second arena of the allocator would occupy 64 MiB of the address space; a crash is reported by its end.
        let settings = ["MALLOC_ARENA_MAX=2", "SWIFT_BACKTRACE=enable=no"] + (languages.isEmpty ? ["LC_ALL=C"] : [])
        return kept + settings
    }

    /// The variables that tell the user's languages.
    private static let languages: [String] = ["LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_MESSAGES"]
}

/// The places at which the program of decoding processes is searched.
package enum HelperLocation {
    /// The name of the program that can do nothing else.
    package static let programName = "eidetic-decode"

    private static let path = Guarded<String?>(nil)

    /// The path that the application has set; `nil` for the places of an installation.
    package static var configuredPath: String? {
        get { path.withLock { $0 } }
        set { path.withLock { $0 = newValue } }
    }

    /// The programs that are there, the preferred one first.
    ///
    /// A configured path is the only one. Otherwise `eidetic-decode` beside this program, in `../libexec` or in the
    /// directories of the system, and then this program itself. Neither `PATH` nor the current directory is searched,
    /// because no user has typed the name.
    package static var programs: [HelperProgram] {
        if let configuredPath { return existing([configuredPath]) }
        let directory = (try? FileSystem().linkTarget(of: "/proc/self/exe"))?.parentPath
        let beside = directory.map { ["\($0)/\(programName)", "\($0)/../libexec/\(programName)"] } ?? []
        let directories = ["/usr/local/libexec", "/usr/libexec", "/usr/local/bin", "/usr/bin"]
        let installed = directories.map { "\($0)/\(programName)" }
        let isOwnUsable = eidetic_can_start_again() != 0
        return existing((beside + installed).compactMap(trusted)) + existing(isOwnUsable ? [ownProgram] : [])
    }

    /// The reason why there are no ``programs``.
    static var absence: String {
        if let configuredPath { return "\(configuredPath) cannot be executed" }
        return "\(programName) is not installed, and this program cannot be started again for it"
    }

    /// The path of this program, which holds also after its file was replaced or removed.
    package static let ownProgram = "/proc/self/exe"

    /// Returns the path of a program without symbolic links; `nil` if another user than root can replace it.
    ///
    /// The name, the program, and the directories of both belong to root or this user, and no other user and no group
    /// can write to them, other than that of root and the user's own.
    package static func trusted(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        let program = String(cString: resolved)
        let places = [path, program].flatMap { ["\($0.parentPath ?? "")/", $0] }
        return places.allSatisfy(isTrusted) ? program : nil
    }

    private static func isTrusted(_ path: String) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_uid == 0 || status.st_uid == geteuid() else { return false }
        // Whoever can change a link can change its directory.
        guard status.st_mode & S_IFMT != S_IFLNK else { return true }
        let isOwnGroup = status.st_gid == 0 || (status.st_gid == getegid() && status.st_gid == status.st_uid)
        return status.st_mode & S_IWOTH == 0 && (isOwnGroup || status.st_mode & S_IWGRP == 0)
    }

    private static func existing(_ paths: [String]) -> [HelperProgram] {
        paths.filter { access($0, X_OK) == 0 }.map { HelperProgram(path: $0) }
    }
}
