package import EideticCore
package import EideticSupervision
import Glibc

extension PacketSocket {
    /// Sends a request to the supervisor, and returns the contents of its answer, up to the last one that `isAwaited`.
    package func answer(
        to request: ControlRequest,
        isAwaited: (ControlAnswer.Content) -> Bool = { _ in true }
    ) throws -> [ControlAnswer.Content] {
        _ = try send(WireWriter.encode(request))
        var contents: [ControlAnswer.Content] = []
        while true {
            var polled = pollfd(fd: rawValue, events: Int16(POLLIN), revents: 0)
            guard poll(&polled, 1, 60_000) == 1, case .packet(let packet) = try receive() else {
                throw SystemError(.receive, errorNumber: ETIMEDOUT)
            }
            let answer = try WireReader.decode(ControlAnswer.self, from: packet.bytes)
            contents.append(answer.content)
            if answer.isLast, isAwaited(answer.content) { return contents }
        }
    }
}
