import EideticCore

/// The URLs or files of a command line: operands, and lists in files (`@FILE`) or on standard input (`@-`; of URLs,
/// `-`).
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
    init(_ operands: [String], readsStandardInput: Bool = true) {
        for operand in operands {
            if operand == "@-" || operand == "-" && readsStandardInput {
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
            let text = bytes.starts(with: Self.byteOrderMark) ? bytes[3...] : bytes[...]
            for line in text.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
                let url = String(String(decoding: line, as: UTF8.self)[...].trimmingWhitespace)
                if !url.isEmpty, !url.hasPrefix("#") { urls.append(url) }
            }
        } catch {
            problems.append("cannot read the list \(name): \(error.message)")
        }
    }
}

/// The URLs of a command line and its lists.
extension URLList {
    /// Returns a URL; a text such as `127.0.0.1:8080/a.jpg` or `example.org/a.jpg` gets `http://`, as with curl.
    ///
    /// The name of a file that exists, and a path, remain as they are, because the author has forgotten `file://`.
    static func completed(_ text: String) -> String {
        guard !text.hasPrefix("http://"), !text.hasPrefix("https://") else { return text }
        let isWeb = ["http", "https"].contains(text.prefix { $0 != ":" }.lowercased())
        guard !isWeb || text.credentialRanges(isURL: true).isEmpty else { return text }
        let authority = text.prefix { !"/?#".contains($0) }
        let host = authority.split(separator: "@").last ?? ""
        let isHost = host == "localhost" || host.contains { ".:".contains($0) }
        let isPath = "./~".contains(text.prefix(1))
        let isData = text.prefix(5).lowercased() == "data:"
        guard isHost, !isPath, !isData, !text.contains(where: \.isWhitespace) else { return text }
        if !authority.contains("@"), host.first != "[", let colon = host.firstIndex(of: ":") {
            // The port follows the colon, else it ends the scheme.
            let port = host[host.index(after: colon)...]
            guard port.allSatisfy(\.isWholeNumber), !port.isEmpty else { return text }
        } else if (try? FileSystem().status(of: text)) != nil {
            return text
        }
        return "http://\(text)"
    }
}
