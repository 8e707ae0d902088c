#if GTK
import EideticCore
import Glibc

extension String {
    /// The last part of a URL's path without its file extension, for display.
    var imageName: String {
        let path = prefix { $0 != "?" && $0 != "#" }
        let name = path.split(separator: "/").last.map(String.init) ?? self
        let stem = name.lastIndex(of: ".").map { String(name[..<$0]) } ?? name
        return stem.decoded.replacing("_", with: " ").replacing("-", with: " ")
    }

    /// The path with percent-encoding of all characters that a URL's path cannot contain.
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
        var remaining = Array(utf8)[...]
        while let byte = remaining.popFirst() {
            if byte == UInt8(ascii: "%"), remaining.count >= 2,
                let value = UInt8(String(decoding: remaining.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                remaining = remaining.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The current working directory.
var currentDirectory: String {
    guard let path = getcwd(nil, 0) else { return "." }
    defer { free(path) }
    return String(cString: path)
}

/// Returns the contents of a regular file; blocks.
func readFile(_ path: String) throws(EideticError) -> [UInt8] {
    // Without a writer, the opening of a pipe would wait for one.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0, let file = fdopen(descriptor, "r") else { throw fileError(path) }
    defer { fclose(file) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
        throw EideticError(.fileFailure, message: "\(path): not a regular file")
    }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 65_536)
    while true {
        let count = fread(&part, 1, part.count, file)
        guard count > 0 else { break }
        bytes += part[..<count]
    }
    guard ferror(file) == 0 else { throw fileError(path) }
    return bytes
}

/// Returns the names in a directory; blocks.
func fileNames(in path: String) throws(EideticError) -> [String] {
    guard let directory = opendir(path) else { throw fileError(path) }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
        withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
            names.append(String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self))
        }
    }
    return names
}

private func fileError(_ path: String) -> EideticError {
    EideticError(.fileFailure, message: "\(path): \(String(cString: strerror(errno)))")
}

extension EideticError {
    /// A Boolean value indicating whether the server is unreachable, in contrast to an error response.
    var isUnreachable: Bool {
        [.offline, .hostNotFound, .connectionRefused, .connectionLost, .timedOut].contains(code)
    }
}
#endif
