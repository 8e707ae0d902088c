import EideticCore
import EideticSupervision
import EideticTestSupport
import Glibc

/// The changes that a supervisor reports, on a connection of its own.
final class ChangeReports {
    private let path: String
    private var connection: PacketSocket?

    init(of daemon: Daemon) { path = daemon.controlSocket }

    /// Waits until a condition holds, which is looked at after each change; throws `ETIMEDOUT` after a minute.
    ///
    /// The supervisor ends the connection that was idle for longest when a process has many: then another one follows.
    func wait(until condition: () throws -> Bool) throws {
        let end = SystemTime().uptime + .seconds(60)
        while try !condition() {
            guard SystemTime().uptime < end else { throw SystemError(.receive, errorNumber: ETIMEDOUT, path: path) }
            let socket = try connection ?? PacketSocket.connect(to: path)
            connection = socket
            do throws(SystemError) {
                if try hasChanged(socket) { continue }
            } catch {
                connection = nil
                continue
            }
            if try !condition() { waitForReport(on: socket) }
        }
    }

    /// Asks for the next change, and returns whether one was reported meanwhile.
    ///
    /// The answer to the question behind the request shows that the supervisor knows it.
    private func hasChanged(_ socket: PacketSocket) throws(SystemError) -> Bool {
        for request in [ControlRequest.awaitChange, .log(identifier: nil, count: 0)] {
            guard try socket.send(WireWriter.encode(request)) else {
                throw SystemError(.send, errorNumber: EAGAIN, path: path)
            }
        }
        var isReported = false
        while try receive(from: socket) == .done { isReported = true }
        return isReported
    }

    private func receive(from socket: PacketSocket) throws(SystemError) -> ControlAnswer.Content? {
        wait(for: socket, atMost: 60_000)
        guard case .packet(let packet) = try socket.receive() else {
            throw SystemError(.receive, errorNumber: ECONNRESET, path: path)
        }
        return try? WireReader.decode(ControlAnswer.self, from: packet.bytes).content
    }

    /// Waits for a report, which the next question finds; returns before the supervisor ends a connection that is idle.
    private func waitForReport(on socket: PacketSocket) { wait(for: socket, atMost: 5_000) }

    private func wait(for socket: PacketSocket, atMost milliseconds: Int32) {
        var polled = pollfd(fd: socket.rawValue, events: Int16(POLLIN), revents: 0)
        _ = poll(&polled, 1, milliseconds)
    }
}
