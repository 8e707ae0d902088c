#if GTK
import EideticCore
import Glibc

extension String {
    /// The last part of a URL without its ending, for people.
    var pictureName: String {
        let path = prefix { $0 != "?" && $0 != "#" }
        let name = path.split(separator: "/").last.map(String.init) ?? self
        let stem = name.lastIndex(of: ".").map { String(name[..<$0]) } ?? name
        return stem.decoded.replacing("_", with: " ").replacing("-", with: " ")
    }

    /// With all that a URL's path cannot hold as percent signs and digits.
    var encodedPath: String {
        utf8.reduce(into: "") { text, byte in
            let isPlain =
                byte < 0x80 && (Character(UnicodeScalar(byte)).isLetter || Character(UnicodeScalar(byte)).isNumber)
            if isPlain || "-_.~/:".utf8.contains(byte) {
                text.unicodeScalars.append(UnicodeScalar(byte))
            } else {
                text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
    }

    private var decoded: String {
        var bytes: [UInt8] = []
        var rest = Array(utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Where the program was started.
var currentDirectory: String {
    guard let path = getcwd(nil, 0) else { return "." }
    defer { free(path) }
    return String(cString: path)
}

extension EideticError {
    /// Whether the server could not be reached, rather than having said no.
    var isUnreachable: Bool {
        [.offline, .hostNotFound, .connectionRefused, .connectionLost, .timedOut].contains(code)
    }
}
#endif
