package import EideticCore

extension TransferStatus: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        writer.append(identifier.rawValue)
        writer.append(session)
        writer.append(state.rawValue)
        writer.append(kind.rawValue)
        writer.append(url)
        writer.append(note)
        writer.append(Int64(completedBytes))
        writer.append(optional: totalBytes) { $0.append(Int64($1)) }
        writer.append(Int64(attemptCount))
        writer.append(optional: nextAttempt) { $0.append($1.nanoseconds) }
        writer.append(list: reasons) { writer, reason in
            writer.append(reason.code.rawValue)
            writer.append(reason.text)
        }
        writer.append(lastError)
    }

    package init(from reader: inout WireReader) throws(WireError) {
        identifier = TransferIdentifier(try reader.integer())
        session = try reader.text(limit: 255)
        state = try reader.enumeration(State.self)
        kind = try reader.enumeration(TransferRequest.Kind.self)
        url = try reader.text()
        note = try reader.blob()
        completedBytes = try reader.length()
        totalBytes = try reader.optional { reader throws(WireError) in try reader.length() }
        attemptCount = try reader.length()
        nextAttempt = try reader.optional { reader throws(WireError) in Timestamp(nanoseconds: try reader.integer()) }
        reasons = try reader.list { reader throws(WireError) in
            WaitReason(try reader.enumeration(WaitReason.Code.self), text: try reader.text())
        }
        lastError = try reader.text()
    }
}
