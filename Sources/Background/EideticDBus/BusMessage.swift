import CSystemd
import EideticCore
import Glibc

/// A failure of the bus, or the error that a service has answered.
package struct BusError: Error, Hashable, CustomStringConvertible {
    /// The name, such as `org.freedesktop.DBus.Error.ServiceUnknown`; empty for a failure of the connection.
    package let name: String
    package let message: String

    package init(name: String, message: String) {
        self.name = name
        self.message = message
    }

    init(_ code: Int32, doing action: String) {
        self.init(name: "", message: "\(action): \(SystemError.message(for: -code))")
    }

    package var description: String { name.isEmpty ? message : "\(name): \(message)" }
}

/// A message that has arrived.
package struct BusMessage {
    let handle: OpaquePointer
    package let sender: String
    package let destination: String
    package let path: String
    package let interface: String
    package let member: String
    package let isCall: Bool
    /// The values, as many as could be read.
    package let values: [BusValue]

    init(_ handle: OpaquePointer) {
        self.handle = handle
        func text(_ pointer: UnsafePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }
        sender = text(sd_bus_message_get_sender(handle))
        path = text(sd_bus_message_get_path(handle))
        destination = text(sd_bus_message_get_destination(handle))
        interface = text(sd_bus_message_get_interface(handle))
        member = text(sd_bus_message_get_member(handle))
        isCall = sd_bus_message_is_method_call(handle, nil, nil) > 0
        values = Self.readValues(of: handle)
    }

    /// Returns a copy of the descriptor that is the first value, which the caller closes; a negative error number on
    /// failure.
    func copyDescriptor() -> Int32 {
        var number: Int32 = -1
        sd_bus_message_rewind(handle, 1)
        guard sd_bus_message_read_basic(handle, Self.code("h"), &number) > 0 else { return -EBADMSG }
        let copy = fcntl(number, F_DUPFD_CLOEXEC, 3)
        return copy < 0 ? -errno : copy
    }

    /// The greatest number of values in a container, and the greatest depth of containers.
    private static let countLimit = 4_096
    private static let depthLimit = 16

    static func readValues(of handle: OpaquePointer) -> [BusValue] {
        sd_bus_message_rewind(handle, 1)
        return readAll(from: handle, depth: 0)
    }

    private static func readAll(from handle: OpaquePointer, depth: Int) -> [BusValue] {
        var values: [BusValue] = []
        while values.count < countLimit, let value = read(from: handle, depth: depth) { values.append(value) }
        return values
    }

    /// Reads one value; `nil` at the end of the container.
    private static func read(from handle: OpaquePointer, depth: Int) -> BusValue? {
        var type: CChar = 0
        var contents: UnsafePointer<CChar>?
        guard sd_bus_message_peek_type(handle, &type, &contents) > 0 else { return nil }
        let character = Character(UnicodeScalar(UInt8(bitPattern: type)))
        switch character {
        case "s", "o", "g": return readText(from: handle, type: type, isPath: character == "o")
        case "a", "v", "r", "e":
            guard depth < depthLimit, let contents else { return nil }
            return readContainer(character, type: type, contents: contents, from: handle, depth: depth)
        default: return readNumber(character, type: type, from: handle)
        }
    }

    private static func readText(from handle: OpaquePointer, type: CChar, isPath: Bool) -> BusValue? {
        var pointer: UnsafePointer<CChar>?
        guard sd_bus_message_read_basic(handle, type, &pointer) > 0, let pointer else { return nil }
        return isPath ? .objectPath(String(cString: pointer)) : .string(String(cString: pointer))
    }

    private static func readNumber(_ character: Character, type: CChar, from handle: OpaquePointer) -> BusValue? {
        var word: UInt64 = 0
        guard sd_bus_message_read_basic(handle, type, &word) > 0 else { return nil }
        switch character {
        case "b": return .boolean(UInt32(truncatingIfNeeded: word) != 0)
        case "y": return .byte(UInt8(truncatingIfNeeded: word))
        case "i": return .int32(Int32(truncatingIfNeeded: word))
        case "u": return .uint32(UInt32(truncatingIfNeeded: word))
        case "x": return .int64(Int64(truncatingIfNeeded: word))
        case "t": return .uint64(word)
        case "d": return .double(Double(bitPattern: word))
        // 16 bits and descriptors are not used by any service here.
        default: return .unsupported
        }
    }

    private static func readContainer(
        _ character: Character,
        type: CChar,
        contents: UnsafePointer<CChar>,
        from handle: OpaquePointer,
        depth: Int
    ) -> BusValue? {
        let signature = String(cString: contents)
        if character == "a", signature == "y" { return readBytes(from: handle) }
        guard sd_bus_message_enter_container(handle, type, contents) > 0 else { return nil }
        let values = readAll(from: handle, depth: depth + 1)
        guard sd_bus_message_exit_container(handle) >= 0 else { return nil }
        switch character {
        case "a": return .array(signature: signature, values)
        case "v": return .variant(values.first ?? .unsupported)
        case "e": return values.count == 2 ? .dictionaryEntry(values[0], values[1]) : .unsupported
        default: return .structure(values)
        }
    }

    private static func readBytes(from handle: OpaquePointer) -> BusValue? {
        var pointer: UnsafeRawPointer?
        var count = 0
        guard sd_bus_message_read_array(handle, CChar(bitPattern: UInt8(ascii: "y")), &pointer, &count) > 0 else {
            return nil
        }
        return .bytes(pointer.map { Array(UnsafeRawBufferPointer(start: $0, count: count)) } ?? [])
    }

    // MARK: Writing

    /// Appends values to a message; returns a negative error number on failure.
    static func append(_ values: [BusValue], to handle: OpaquePointer) -> Int32 {
        for value in values {
            let result = append(value, to: handle)
            if result < 0 { return result }
        }
        return 0
    }

    private static func append(_ value: BusValue, to handle: OpaquePointer) -> Int32 {
        switch value {
        case .string(let text): return append("s", text: text, to: handle)
        case .objectPath(let text): return append("o", text: text, to: handle)
        case .boolean(let flag): return append("b", number: Int32(flag ? 1 : 0), to: handle)
        case .byte(let number): return append("y", number: number, to: handle)
        case .int32(let number): return append("i", number: number, to: handle)
        case .uint32(let number): return append("u", number: number, to: handle)
        case .int64(let number): return append("x", number: number, to: handle)
        case .uint64(let number): return append("t", number: number, to: handle)
        case .double(let number): return append("d", number: number, to: handle)
        case .bytes(let bytes):
            return sd_bus_message_append_array(handle, code("y"), bytes, bytes.count)
        case .array(let signature, let elements): return open("a", contents: signature, values: elements, to: handle)
        case .structure(let members):
            return open("r", contents: members.map(\.signature).joined(), values: members, to: handle)
        case .dictionaryEntry(let key, let value):
            return open("e", contents: key.signature + value.signature, values: [key, value], to: handle)
        case .variant(let value): return open("v", contents: value.signature, values: [value], to: handle)
        case .unsupported: return -EINVAL
        }
    }

    private static func code(_ character: Character) -> CChar { CChar(bitPattern: character.asciiValue ?? 0) }

    private static func append(_ type: Character, text: String, to handle: OpaquePointer) -> Int32 {
        text.withCString { sd_bus_message_append_basic(handle, code(type), $0) }
    }

    private static func append<Number: BitwiseCopyable>(
        _ type: Character,
        number: Number,
        to handle: OpaquePointer
    ) -> Int32 {
        withUnsafePointer(to: number) { sd_bus_message_append_basic(handle, code(type), $0) }
    }

    private static func open(
        _ type: Character,
        contents: String,
        values: [BusValue],
        to handle: OpaquePointer
    ) -> Int32 {
        let opened = sd_bus_message_open_container(handle, code(type), contents)
        if opened < 0 { return opened }
        let result = append(values, to: handle)
        return result < 0 ? result : sd_bus_message_close_container(handle)
    }
}
