#if GTK
import EideticCore
import EideticTestSupport
import EideticTransfer
import Glibc

/// The transfer process of a program, which starts it itself.
final class TransferPlace: Sendable {
    private let location: ServiceLocation
    private let state: String
    private let programs: String

    /// Makes a place below a directory.
    init(directory: String, runtimeDirectory: String) throws {
        (state, programs) = ("\(directory)/state", "\(directory)/programs")
        location = ServiceLocation(
            socketPath: "\(runtimeDirectory)/eidetic/transfer.socket",
            directory: "\(state)/eidetic/transfers"
        )
        // A limited build has the program under another name.
        try FileSystem().makeDirectory(programs)
        symlink(Scene.executablePath(of: "eidetic-transferd"), "\(programs)/eidetic-transferd")
    }

    deinit { for process in processes { kill(process, SIGKILL) } }

    /// The variables by which a program finds the place.
    var environment: [String: String?] {
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
        return ["XDG_STATE_HOME": state, "PATH": "\(programs):\(path)"]
    }

    /// A Boolean value indicating whether the Gallery has transfers, all of which have ended.
    var haveAllEnded: Bool {
        get async throws {
            var existing = location
            existing.program = .none
            guard let connection = try await TransferProcess.connect(at: existing, application: "Gallery") else {
                return false
            }
            defer { connection.close() }
            let transfers = try await connection.transfers(in: "images")
            return !transfers.isEmpty && transfers.allSatisfy(\.state.isTerminal)
        }
    }

    private var processes: [Int32] {
        let files = FileSystem(), directory = Array((location.directory ?? "").utf8)
        let names = (try? files.entryNames(in: "/proc")) ?? []
        return names.compactMap(Int32.init).filter { process in
            let line = try? files.contents(of: "/proc/\(process)/cmdline", limit: 65_536)
            return line?.split(separator: 0).contains { Array($0) == directory } ?? false
        }
    }
}
#endif
