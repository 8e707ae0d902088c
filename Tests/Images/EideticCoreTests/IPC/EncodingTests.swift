import EideticCore
import Testing

@Suite("Encoding between processes")
struct EncodingTests {
    @Test("values return as they were written")
    func roundTrip() throws {
        let sample = Sample(number: -5, name: "naïve 🙂", blob: [0, 255], isSet: true, interval: .milliseconds(1_500))
        #expect(try WireReader.decode(Sample.self, from: WireWriter.encode(sample)) == sample)
    }

    @Test("every truncated message is refused")
    func truncation() {
        let bytes = WireWriter.encode(Sample())
        for count in bytes.indices {
            #expect(throws: WireError.self) { try WireReader.decode(Sample.self, from: Array(bytes[..<count])) }
        }
    }

    @Test("bytes after the value are refused")
    func trailingBytes() {
        let bytes = WireWriter.encode(Sample())
        #expect(throws: WireError.trailingBytes(offset: bytes.count)) {
            try WireReader.decode(Sample.self, from: bytes + [0])
        }
    }

    @Test("a length is refused above its limit, and taken at it and below", arguments: [3, 4, 5])
    func lengthLimit(count: Int) throws {
        var writer = WireWriter()
        writer.append([UInt8](repeating: 7, count: count))
        var reader = WireReader(writer.bytes)
        if count <= 4 {
            #expect(try reader.blob(limit: 4).count == count)
        } else {
            #expect(throws: WireError.limitExceeded(offset: 0, value: 5, limit: 4)) { try reader.blob(limit: 4) }
        }
    }

    @Test("a length of 4 GiB allocates nothing")
    func hugeLength() {
        var reader = WireReader([255, 255, 255, 255])
        #expect(throws: WireError.self) { try reader.blob(limit: .max) }
        var list = WireReader([255, 255, 255, 255])
        #expect(throws: WireError.self) { try Layout.list(Layout<Bool>.value, limit: .max).read(from: &list) }
    }

    @Test("text that is not UTF-8, and a Boolean value other than 0 and 1, are refused")
    func invalidValues() {
        var text = WireReader([1, 0, 0, 0, 0xff])
        #expect(throws: WireError.invalidText(offset: 0)) { try text.text() }
        var boolean = WireReader([2])
        #expect(throws: WireError.unknownCase(type: "Bool", value: 2)) { try boolean.boolean() }
    }

    @Test("a duration beyond the range of nanoseconds becomes the longest", arguments: [1, -1])
    func durations(sign: Int64) throws {
        var writer = WireWriter()
        writer.append(Duration.seconds(sign * .max))
        var reader = WireReader(writer.bytes)
        #expect(try reader.duration() == .nanoseconds(sign > 0 ? Int64.max : .min))
    }
}

private struct Sample: WireRecord, Hashable {
    var number: Int32 = 1
    var name = "a"
    var blob: [UInt8] = [1, 2]
    var isSet = false
    var interval: Duration = .seconds(1)

    static let layout = Layout(Self.init, \.number, \.name, \.blob, \.isSet, \.interval)
}
