import EideticCore
import Glibc

/// The files that an application leaves for its next launch: its saved state, and the report of its death.
///
/// Blocks; used by the lifecycle thread only.
final class StateArchive {
    let directory: String
    private let files = FileSystem()
    /// Locked and not empty during a launch; a file that is not empty and not locked means that the launch crashed.
    private var launchMarker: FileDescriptor?

    private static let maximumSize = 64 << 20

    init(directory: String) { self.directory = directory }

    convenience init(identifier: String, directory: String?) {
        self.init(directory: "\(directory ?? Self.defaultDirectory)/\(identifier)")
    }

    /// The first path in `STATE_DIRECTORY`, which systemd sets, or else `eidetic` in the XDG state directory.
    static var defaultDirectory: String {
        func variable(_ name: String) -> String? {
            getenv(name).map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        if let given = variable("STATE_DIRECTORY") { return String(given.prefix { $0 != ":" }) }
        return (variable("XDG_STATE_HOME") ?? "\(variable("HOME") ?? "/var/lib")/.local/state") + "/eidetic"
    }

    /// Marks the launch as started and returns the saved state; deletes it and returns `nil` if the previous launch
    /// crashed.
    func startLaunch() -> [UInt8]? {
        do throws(SystemError) {
            try files.makeDirectories(directory)
            let file = try files.open("\(directory)/launching", flags: O_RDWR | O_CREAT)
            try files.lock(file, operation: LOCK_EX | LOCK_NB)
            let crashed = try files.status(of: file).size > 0
            if !crashed { try files.write([1], to: file, at: 0) }
            launchMarker = consume file
            if crashed { delete() }
            return crashed ? nil : try? files.contents(of: "\(directory)/state", limit: Self.maximumSize)
        } catch {
            // Also if another instance is being launched, which has received the state.
            Log.write(.info, category: .background, message: "cannot restore the saved state: \(error)")
            return nil
        }
    }

    func finishLaunch() {
        guard let file = launchMarker.take() else { return }
        try? files.truncate(file, to: 0)
    }

    func save(_ bytes: [UInt8]) { replace("state", with: bytes) }

    func saveReport(_ text: String) { replace("exit-report", with: Array("\(text)\n".utf8)) }

    /// Returns the report of the previous process, and removes it.
    func consumeReport() -> String? {
        guard let bytes = try? files.contents(of: "\(directory)/exit-report", limit: 1 << 16) else { return nil }
        try? files.unlink("\(directory)/exit-report")
        return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }

    func delete() { try? files.unlink("\(directory)/state") }

    private func replace(_ name: String, with bytes: [UInt8]) {
        do throws(SystemError) {
            try files.makeDirectories(directory)
            try files.replaceContents(of: "\(directory)/\(name)", with: bytes, mode: 0o600)
        } catch {
            Log.write(.error, category: .background, message: "cannot save \(name): \(error)")
        }
    }
}
