import EideticCore
import EideticWire
import Glibc

/// A connection to the supervisor, for one request.
struct SupervisorClient {
    private let socket: PacketSocket

    /// The longest time to an answer.
    private static let answerLimit: Int32 = 10_000

    /// Connects to the supervisor of a runtime directory.
    init(runtimeDirectory: String) throws(EideticError) {
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
            EideticError(.notFound, message: "no supervisor runs (\(path)): start eideticd, or give --runtime-dir")
        case EACCES: EideticError(.permissionDenied, message: "the supervisor at \(path) belongs to another user")
        case EAGAIN: EideticError(.timedOut, message: "the supervisor at \(path) is too busy")
        default: EideticError(.fileFailure, message: "cannot connect to the supervisor at \(path): \(error)")
        }
    }

    /// Sends a request and returns its answer; throws if the supervisor refuses it.
    func send(_ request: ControlRequest) throws(EideticError) -> [ControlAnswer.Content] {
        let bytes = WireWriter.encode(request)
        guard bytes.count <= PacketSocket.maximumPacketLength else {
            throw EideticError(.limitExceeded, message: "the arguments and the environment exceed 64 KiB")
        }
        do throws(SystemError) { _ = try socket.send(bytes) } catch { throw EideticError(error) }
        var contents: [ControlAnswer.Content] = []
        while true {
            let answer = try receive()
            if case .refused(_, let message) = answer.content { throw EideticError(.refused, message: message) }
            contents.append(answer.content)
            if answer.isLast { return contents }
        }
    }

    private func receive() throws(EideticError) -> ControlAnswer {
        var polled = pollfd(fd: socket.rawValue, events: Int16(POLLIN), revents: 0)
        while true {
            guard poll(&polled, 1, Self.answerLimit) == 1 else {
                throw EideticError(.timedOut, message: "the supervisor does not answer")
            }
            do {
                switch try socket.receive() {
                case .packet(let packet): return try WireReader.decode(ControlAnswer.self, from: packet.bytes)
                case .none: continue
                case .end: throw EideticError(.refused, message: "the supervisor closed the connection")
                }
            } catch let error as EideticError {
                throw error
            } catch {
                throw EideticError(.badResponse, message: "the supervisor's answer is invalid: \(error)")
            }
        }
    }
}
