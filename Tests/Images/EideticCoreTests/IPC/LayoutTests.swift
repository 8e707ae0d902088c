import EideticCore
import Testing

@Suite("Layouts of records and enumerations")
struct LayoutTests {
    private static let shapes: [Shape] = [
        .point, .circle(radius: 2.5), .polygon([1, 2, 3], name: "π"), .polygon([], name: ""), .label(nil), .label("a"),
    ]

    @Test("each case is read as it was written, and refused truncated and longer", arguments: shapes)
    private func roundTrip(_ shape: Shape) throws {
        let bytes = WireWriter.encode(shape)
        #expect(try WireReader.decode(Shape.self, from: bytes) == shape)
        for count in bytes.indices {
            #expect(throws: WireError.self) { try WireReader.decode(Shape.self, from: Array(bytes[..<count])) }
        }
        #expect(throws: WireError.trailingBytes(offset: bytes.count)) {
            try WireReader.decode(Shape.self, from: bytes + [0])
        }
    }

    @Test("the fields of a record follow each other in the order of its initialiser, without names")
    func bytes() {
        #expect(WireWriter.encode(Record(count: 3, name: "ab")) == [7, 3, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 97, 98])
        #expect(WireWriter.encode(Shape.label("a")) == [4, 1, 1, 0, 0, 0, 97])
        #expect(WireWriter.encode([Color.red, .blue]) == [2, 0, 0, 0, 1, 2])
    }

    @Test("a case with a number that no case has is refused", arguments: [0, 5, 255] as [UInt8])
    func unknownCase(tag: UInt8) {
        #expect(throws: WireError.unknownCase(type: "Shape", value: UInt64(tag))) {
            try WireReader.decode(Shape.self, from: [tag])
        }
    }

    @Test("a record with another version is refused")
    func version() {
        var bytes = WireWriter.encode(Record(count: 3, name: ""))
        bytes[0] = 8
        #expect(throws: WireError.unknownCase(type: "Record", value: 8)) {
            try WireReader.decode(Record.self, from: bytes)
        }
    }

    @Test("a number outside of its range is refused", arguments: [-1, 0, 10, 11])
    func range(count: Int) {
        let record = Record(count: count, name: "")
        let decoded = try? WireReader.decode(Record.self, from: WireWriter.encode(record))
        #expect(decoded == ((0...10).contains(count) ? record : nil))
    }

    @Test("text longer than its limit is refused", arguments: [3, 4, 5])
    func textLimit(length: Int) {
        let record = Record(count: 0, name: String(repeating: "a", count: length))
        let decoded = try? WireReader.decode(Record.self, from: WireWriter.encode(record))
        #expect(decoded == (length <= 4 ? record : nil))
    }

    @Test("values that the initialiser refuses are none of the record")
    func validation() throws {
        let even = try #require(Even(number: 4))
        #expect(try WireReader.decode(Even.self, from: WireWriter.encode(even)) == even)
        #expect(throws: WireError.invalidValue(type: "Even")) { try WireReader.decode(Even.self, from: [5]) }
    }

    @Test("cases of a set that this version does not know are left out")
    func unknownMembers() throws {
        #expect(WireWriter.encode(Set([Color.blue, .red])) == [2, 0, 0, 0, 1, 2])
        #expect(try WireReader.decode(Set<Color>.self, from: [3, 0, 0, 0, 2, 9, 1]) == [.red, .blue])
    }

    @Test("a dictionary is written in the order of its keys")
    func dictionary() throws {
        let layout = Layout<[UInt8: Bool]>.dictionary(by: <)
        var writer = WireWriter()
        layout.write([9: true, 2: false, 5: true], to: &writer)
        #expect(writer.bytes == [3, 0, 0, 0, 2, 0, 5, 1, 9, 1])
        var reader = WireReader(writer.bytes)
        #expect(try layout.read(from: &reader) == [9: true, 2: false, 5: true])
    }

    @Test("a case that the layout lacks, and two cases with one number, are mistakes of the program")
    func incompleteLayouts() async {
        await #expect(processExitsWith: .failure) {
            let layout = Layout<Color>(Case(1, .red))
            var writer = WireWriter()
            layout.write(.blue, to: &writer)
        }
        await #expect(processExitsWith: .failure) { _ = Layout<Color>(Case(1, .red), Case(1, .blue)) }
    }
}

private enum Color: UInt8, WireValue, Hashable { case red = 1, blue }

private enum Shape: WireRecord, Hashable {
    case point
    case circle(radius: Double)
    case polygon([Int32], name: String)
    case label(String?)

    static let layout = Layout<Self>(
        Case(1, point),
        Case(2, circle) { if case .circle(let radius) = $0 { radius } else { nil } },
        Case(3, polygon) { if case .polygon(let sides, let name) = $0 { (sides, name) } else { nil } },
        Case(4, label) { if case .label(let text) = $0 { .some(text) } else { nil } }
    )
}

private struct Record: WireRecord, Hashable {
    var count: Int
    var name: String

    static let layout = Layout(Self.init, Field(\.count, .number(in: 0...10)), Field(\.name, .text(limit: 4)))
        .preceded(by: 7 as UInt8)
}

private struct Even: WireRecord, Hashable {
    let number: UInt8

    init?(number: UInt8) {
        guard number.isMultiple(of: 2) else { return nil }
        self.number = number
    }

    static let layout = Layout<Self>(validating: Self.init, Field(\.number))
}
