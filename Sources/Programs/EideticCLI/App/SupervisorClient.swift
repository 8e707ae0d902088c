import EideticCore
import EideticSupervision
import Glibc

/// A connection to the supervisor, for one request.
struct SupervisorClient {
    private let socket: PacketSocket
    private let runtimeDirectory: String

    /// The time in which another supervisor starts, and the pause between attempts to connect to it.
    private static let successorLimit: Duration = .seconds(8)
    private static let successorPause: UInt32 = 20_000
    /// The longest time to an answer.
    private static let answerLimit: Int32 = 10_000

    init(runtimeDirectory: String) throws(EideticError) {
        self.runtimeDirectory = runtimeDirectory
        let path = "\(runtimeDirectory)/\(SupervisionProtocol.controlSocketName)"
        do throws(SystemError) {
            socket = try PacketSocket.connect(to: path)
        } catch {
            throw Self.failure(error, path: path)
        }
    }

    private static func failure(_ error: SystemError, path: String) -> EideticError {
        switch error.errorNumber {
        case ENOENT, ECONNREFUSED:
            EideticError(.notFound, message: "no supervisor runs (\(path)): \(remedy)")
        case EACCES: EideticError(.permissionDenied, message: "\(path) belongs to another user")
        case EAGAIN: EideticError(.timedOut, message: "the supervisor at \(path) is too busy")
        default: EideticError(.fileFailure, message: "cannot connect to the supervisor at \(path): \(error)")
        }
    }

    private static var remedy: String {
        InstalledProgram.exists("eideticd")
            ? "start eideticd, or give --runtime-dir"
            : "eideticd is not installed; it is in the package \(InstalledProgram.backgroundPackage)"
    }

    /// Sends a request and returns its answer; throws if the supervisor refuses it.
    func send(_ request: ControlRequest) throws(EideticError) -> [ControlAnswer.Content] {
        guard let contents = try exchange(request) else {
            throw EideticError(.refused, message: "the supervisor closed the connection")
        }
        return contents
    }

    /// Sends a request to open a URL; if the supervisor ends meanwhile, asks the next one what has become of it.
    func send(_ request: ControlRequest, orFollow token: UInt64) throws(EideticError) {
        guard try exchange(request) == nil else { return }
        let end = SystemTime().uptime + Self.successorLimit
        // One that ends still accepts connections for a moment after it has closed others.
        while try successor(until: end).exchange(.followURL(token: token)) == nil { usleep(Self.successorPause) }
    }

    /// Connects to the supervisor that takes the place of one that has ended.
    private func successor(until end: Duration) throws(EideticError) -> SupervisorClient {
        while true {
            guard SystemTime().uptime < end else {
                throw EideticError(
                    .refused,
                    message: "the supervisor has ended, and no other one has started: the URL waits for the next one"
                )
            }
            do throws(EideticError) {
                return try SupervisorClient(runtimeDirectory: runtimeDirectory)
            } catch {
                // One that has just started may be busy.
                guard error.code == .notFound || error.code == .timedOut else { throw error }
            }
            usleep(Self.successorPause)
        }
    }

    /// Sends a request and returns its answer; `nil` if the supervisor has closed the connection.
    private func exchange(_ request: ControlRequest) throws(EideticError) -> [ControlAnswer.Content]? {
        let bytes = WireWriter.encode(request)
        guard bytes.count <= PacketSocket.maximumPacketLength else {
            throw EideticError(.limitExceeded, message: "the arguments and the environment exceed 64 KiB")
        }
        do throws(SystemError) {
            _ = try socket.send(bytes)
        } catch {
            if error.errorNumber == EPIPE || error.errorNumber == ECONNRESET { return nil }
            throw EideticError(error)
        }
        var contents: [ControlAnswer.Content] = []
        while true {
            guard let answer = try receive() else { return nil }
            if case .refused(_, let message) = answer.content { throw EideticError(.refused, message: message) }
            contents.append(answer.content)
            if answer.isLast { return contents }
        }
    }

    private func receive() throws(EideticError) -> ControlAnswer? {
        var polled = pollfd(fd: socket.rawValue, events: Int16(POLLIN), revents: 0)
        while true {
            guard poll(&polled, 1, Self.answerLimit) == 1 else {
                throw EideticError(.timedOut, message: "the supervisor does not answer")
            }
            do {
                switch try socket.receive() {
                case .packet(let packet): return try WireReader.decode(ControlAnswer.self, from: packet.bytes)
                case .none: continue
                case .end: return nil
                }
            } catch let error as EideticError {
                throw error
            } catch {
                throw EideticError(.badResponse, message: "the supervisor's answer is invalid: \(error)")
            }
        }
    }
}
