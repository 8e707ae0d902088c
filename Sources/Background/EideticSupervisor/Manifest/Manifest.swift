package import EideticSupervision
import Glibc
package import EideticLifecycle

/// The declarations of an application in its desktop entry.
///
/// A desktop entry is one of a supervised application if it has a key that begins with `X-Eidetic-`.
package struct Manifest: Sendable, Hashable {
    /// The beginning of the keys that make a desktop entry a manifest.
    package static let keyPrefix = "X-Eidetic-"
    /// The beginning of the media types that name schemes of URLs.
    private static let schemePrefix = "x-scheme-handler/"

    /// The name of the file without its extension, such as `org.example.Mail`.
    package let identifier: String
    package let path: String
    /// The name that users see.
    package let name: String
    /// The name or the path of the icon; `nil` if there is none.
    package let icon: String?
    /// The kinds of background work that the application may do; all others are refused.
    package let modes: Set<DeclaredMode>
    /// The words among the modes that this version does not know.
    package let unknownModes: [String]
    /// The background time of one stay in the background; `nil` if the entry does not state any.
    package let backgroundBudget: Duration?
    /// A Boolean value indicating whether leaving the foreground terminates the application; `nil` if the entry does
    /// not state it.
    package let exitsOnSuspend: Bool?
    /// The schemes of the URLs that the application opens, in lower case.
    package let schemes: Set<String>
    /// A Boolean value indicating whether the application is activated over D-Bus, by its identifier.
    package let isBusActivatable: Bool
    private let command: CommandTemplate?
    private let directory: String?

    /// Parses the desktop entry of an application.
    package init(parsing bytes: [UInt8], identifier: String, path: String) throws(ManifestError) {
        self.identifier = identifier
        self.path = path
        let entry = try DesktopEntry(parsing: bytes)
        guard try entry.text(of: "Type") == "Application" else {
            throw .invalidValue(key: "Type", reason: "it is not Application")
        }
        guard let name = try entry.text(of: "Name"), !name.isEmpty else { throw .missing("Name") }
        self.name = name
        icon = try entry.text(of: "Icon")
        let words = try entry.list(of: "X-Eidetic-BackgroundModes") ?? []
        modes = Set(words.compactMap(DeclaredMode.init))
        unknownModes = words.filter { DeclaredMode(rawValue: $0) == nil }
        backgroundBudget = try Self.budget(in: entry)
        exitsOnSuspend = try entry.boolean(of: "X-Eidetic-ExitsOnSuspend")
        schemes = Set(try entry.list(of: "MimeType")?.compactMap(Self.scheme) ?? [])
        isBusActivatable = try entry.boolean(of: "DBusActivatable") ?? false
        directory = try entry.text(of: "Path")
        if let directory, !directory.hasPrefix("/") {
            throw .invalidValue(key: "Path", reason: "it is no absolute path")
        }
        var fields = CommandTemplate.Fields()
        fields.name = name
        fields.icon = icon
        fields.path = path
        guard let exec = try entry.text(of: "Exec") else {
            guard isBusActivatable else { throw .missing("Exec") }
            command = nil
            return
        }
        command = try CommandTemplate(exec, fields: fields)
    }

    private static func budget(in entry: DesktopEntry) throws(ManifestError) -> Duration? {
        let key = "X-Eidetic-BackgroundBudget"
        guard let text = try entry.text(of: key) else { return nil }
        guard let seconds = Int64(text), SupervisorConfiguration.budgetRange.contains(.seconds(seconds)) else {
            throw .invalidValue(key: key, reason: "\(text) is no number of seconds from 5 to 600")
        }
        return .seconds(seconds)
    }

    private static func scheme(of type: String) -> String? {
        guard type.hasPrefix(schemePrefix) else { return nil }
        let scheme = type.dropFirst(schemePrefix.count).lowercased()
        return scheme.isEmpty ? nil : scheme
    }

    /// The program, with the environment of this process; `nil` if it is not found.
    package var program: ProgramDescription? {
        guard let command, let executable = Self.resolve(command.program) else { return nil }
        var program = ProgramDescription(executable: executable)
        program.arguments = command.arguments
        program.directory = directory
        var variable = environ
        while let text = variable.pointee {
            program.environment.append(String(cString: text))
            variable += 1
        }
        return program
    }

    /// The program as the entry names it; `nil` if it names none.
    package var programName: String? { command?.program }

    /// Returns the path of a program without symbolic links, for a path or a name in `PATH`.
    private static func resolve(_ name: String) -> String? {
        if name.hasPrefix("/") { return realPath(name) }
        let places = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
        for place in places.split(separator: ":") where place.hasPrefix("/") {
            let path = "\(place)/\(name)"
            if access(path, X_OK) == 0 { return realPath(path) }
        }
        return nil
    }

    private static func realPath(_ path: String) -> String? {
        guard let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        return String(cString: found)
    }
}
