import EideticCore
import EideticHTTP
import EideticTransfer

extension TransferEvent {
    /// The space in a packet for all numbers and tags, and the name of the session.
    private static let envelope = 512

    /// Returns the event without the parts that do not fit into a packet.
    ///
    /// These are the header fields of a response, then its URL after redirects; a message is truncated. All else has
    /// limits far below those of a packet.
    func fittingPacket() -> TransferEvent {
        var event = self
        switch outcome {
        case .finished(var response):
            if response.headers.fields.count > TransferLimits.fieldCount || event.exceedsPacket(response) {
                response.headers = HTTPHeaders()
                event.outcome = .finished(response)
            }
            if event.exceedsPacket(response) {
                response.effectiveURL = url
                event.outcome = .finished(response)
            }
        case .failed(let code, let message):
            guard message.utf8.count > TransferLimits.messageLength else { return self }
            let prefix = String(decoding: message.utf8.prefix(TransferLimits.messageLength), as: UTF8.self)
            event.outcome = .failed(code: code, message: prefix)
        case .cancelled: break
        }
        return event
    }

    private func exceedsPacket(_ response: Response) -> Bool {
        let fields = response.headers.fields.flatMap { [$0.name, $0.value] }
        let texts = fields + [url, response.path, response.effectiveURL == url ? "" : response.effectiveURL]
        // Each text has its length before it.
        let size = texts.reduce(note.count) { $0 + 4 + $1.utf8.count }
        return size > PacketSocket.maximumPacketLength - Self.envelope
    }
}
