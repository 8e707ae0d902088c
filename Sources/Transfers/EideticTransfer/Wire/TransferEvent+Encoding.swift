package import EideticCore
import EideticHTTP

extension TransferEvent: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        writer.append(number)
        writer.append(transfer.rawValue)
        writer.append(kind.rawValue)
        writer.append(url)
        writer.append(note)
        writer.append(shortOutcome)
    }

    /// The outcome, without the URL after redirects if it is that of the request.
    private var shortOutcome: Outcome {
        guard case .finished(var response) = outcome, response.effectiveURL == url else { return outcome }
        response.effectiveURL = ""
        return .finished(response)
    }

    package init(from reader: inout WireReader) throws(WireError) {
        number = try reader.integer()
        transfer = TransferIdentifier(try reader.integer())
        kind = try reader.enumeration(TransferRequest.Kind.self)
        url = try reader.text()
        note = try reader.blob()
        outcome = try Outcome(from: &reader)
        guard case .finished(var response) = outcome, response.effectiveURL.isEmpty else { return }
        response.effectiveURL = url
        outcome = .finished(response)
    }
}

extension TransferEvent.Outcome: WireEncodable, WireDecodable {
    private enum Tag: UInt8 { case finished = 1, failed, cancelled }

    package func write(to writer: inout WireWriter) {
        switch self {
        case .finished(let response):
            writer.append(Tag.finished.rawValue)
            writer.append(response.path)
            writer.append(Int64(response.length))
            writer.append(Int64(response.status))
            writer.append(response.effectiveURL)
            writer.append(response.headers)
        case .failed(let code, let message):
            writer.append(Tag.failed.rawValue)
            writer.append(code)
            writer.append(message)
        case .cancelled(let reason, let resumeData):
            writer.append(Tag.cancelled.rawValue)
            writer.append(reason.rawValue)
            writer.append(optional: resumeData) { $0.append($1) }
        }
    }

    package init(from reader: inout WireReader) throws(WireError) {
        switch try reader.enumeration(Tag.self) {
        case .finished:
            self = .finished(
                TransferEvent.Response(
                    path: try reader.text(),
                    length: try reader.length(),
                    status: try reader.length(),
                    effectiveURL: try reader.text(),
                    headers: try HTTPHeaders(from: &reader)
                )
            )
        case .failed: self = .failed(code: try reader.text(), message: try reader.text())
        case .cancelled:
            let reason = try reader.enumeration(TransferEvent.CancellationReason.self)
            let resumeData = try reader.optional { reader throws(WireError) in try reader.blob() }
            self = .cancelled(reason: reason, resumeData: resumeData)
        }
    }
}

extension TransferNotification: WireEncodable, WireDecodable {
    private enum Tag: UInt8 { case event = 1, progress, sessionFinished }

    package func write(to writer: inout WireWriter) {
        switch self {
        case .event(let event):
            writer.append(Tag.event.rawValue)
            writer.append(event)
        case .progress(let transfer, let completed, let total):
            writer.append(Tag.progress.rawValue)
            writer.append(transfer.rawValue)
            writer.append(Int64(completed))
            writer.append(optional: total) { $0.append(Int64($1)) }
        case .sessionFinished(let lastEvent):
            writer.append(Tag.sessionFinished.rawValue)
            writer.append(lastEvent)
        }
    }

    package init(from reader: inout WireReader) throws(WireError) {
        switch try reader.enumeration(Tag.self) {
        case .event: self = .event(try TransferEvent(from: &reader))
        case .progress:
            self = .progress(
                TransferIdentifier(try reader.integer()),
                completed: try reader.length(),
                total: try reader.optional { reader throws(WireError) in try reader.length() }
            )
        case .sessionFinished: self = .sessionFinished(lastEvent: try reader.integer())
        }
    }
}
