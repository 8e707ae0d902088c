package import EideticCore
import EideticHTTP

extension TransferRequest: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        writer.append(kind.rawValue)
        writer.append(url)
        writer.append(method)
        writer.append(headers)
        writer.append(note)
        writer.append(optional: expectedLength) { $0.append(Int64($1)) }
        writer.append(priority)
        writer.append(optional: resumeData) { $0.append($1) }
        writer.append(optional: earliestBegin) { $0.append($1.nanoseconds) }
    }

    /// Reads a request; the file of an upload comes as a descriptor, so ``filePath`` is `nil`.
    package init(from reader: inout WireReader) throws(WireError) {
        let kind = try reader.enumeration(Kind.self)
        self = TransferRequest(download: try reader.text(limit: TransferLimits.urlLength))
        self.kind = kind
        method = try reader.text(limit: 32)
        headers = try HTTPHeaders(from: &reader)
        note = try reader.blob(limit: TransferLimits.noteLength)
        expectedLength = try reader.optional { reader throws(WireError) in try reader.length() }
        priority = try reader.integer()
        resumeData = try reader.optional { reader throws(WireError) in try reader.blob(limit: 4_096) }
        earliestBegin = try reader.optional { reader throws(WireError) in Timestamp(nanoseconds: try reader.integer()) }
    }
}

extension TransferSessionConfiguration: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        writer.append(identifier)
        writer.append(sendsLaunchEvents)
        writer.append(isDiscretionary)
        writer.append(requestTimeout)
        writer.append(resourceTimeout)
        writer.append(usesCookies)
        writer.append(retriesUnavailable)
        writer.append(allowsPrivateRedirects)
        writer.append(Int64(connectionsPerHost))
    }

    package init(from reader: inout WireReader) throws(WireError) {
        identifier = try reader.text(limit: 255)
        sendsLaunchEvents = try reader.boolean()
        isDiscretionary = try reader.boolean()
        requestTimeout = try reader.duration()
        resourceTimeout = try reader.duration()
        usesCookies = try reader.boolean()
        retriesUnavailable = try reader.boolean()
        allowsPrivateRedirects = try reader.boolean()
        connectionsPerHost = try reader.length()
    }
}

extension HTTPHeaders: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        writer.append(list: fields) { writer, field in
            writer.append(field.name)
            writer.append(field.value)
        }
    }

    package init(from reader: inout WireReader) throws(WireError) {
        let fields = try reader.list(limit: 1_024) { reader throws(WireError) in
            HTTPHeaders.Field(name: try reader.text(), value: try reader.text())
        }
        self.init(fields)
    }
}

extension WireReader {
    /// Reads a number of bytes, which is not negative.
    package mutating func length() throws(WireError) -> Int {
        let value = try integer(Int64.self)
        guard value >= 0 else { throw .unknownCase(type: "length", value: UInt64(bitPattern: value)) }
        return Int(value)
    }
}
