import EideticCore

/// The URLs of a command line: operands, and lists in files (`@FILE`) or on standard input (`-`).
struct URLList {
    /// The maximum size of a list.
    private static let limit = ByteCount.mebibytes(64)

    /// The mark with which some editors begin a text in UTF-8.
    private static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]

    /// The URLs in their order, with repetitions.
    private(set) var urls: [String] = []
    /// The error messages for lists that could not be read.
    private(set) var problems: [String] = []

    /// Reads the lists; blocks.
    init(_ operands: [String]) {
        for operand in operands {
            if operand == "-" {
                read("-", name: "on standard input")
            } else if operand.hasPrefix("@") {
                let path = String(operand.dropFirst())
                read(path, name: path)
            } else {
                urls.append(operand)
            }
        }
    }

    /// Reads a list with one URL per line; skips empty lines and lines that begin with `#`.
    private mutating func read(_ path: String, name: String) {
        do throws(EideticError) {
            let bytes = try FileContents.read(path, limit: Self.limit)
            let text = String(
                decoding: bytes.starts(with: Self.byteOrderMark) ? bytes[3...] : bytes[...],
                as: UTF8.self
            )
            let lines = text.split(whereSeparator: \.isNewline).map { $0.trimmingSpaces }
            urls += lines.filter { !$0.isEmpty && !$0.hasPrefix("#") }
        } catch {
            problems.append("cannot read the list \(name): \(error.message)")
        }
    }
}

extension Substring {
    /// The text without white space at its ends.
    fileprivate var trimmingSpaces: String {
        var text = drop(while: \.isWhitespace)
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
