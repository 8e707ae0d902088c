import EideticCore
import Glibc

/// The words of the command line that other users must not read in `/proc/PID/cmdline`.
enum SecretArguments {
    /// The options whose values are secrets, at least in a part.
    private static let options: Set<String> = ["--user", "--header", "-H"]

    /// Overwrites passwords in the memory that the system shows as the command line.
    ///
    /// The program has copied its words before. Between its start and this call they can be read, as with every
    /// program.
    static func wipe(_ words: [String]) {
        guard let memory = commandLine, words.contains(where: isSecret) else { return }
        var isValue = false
        // Each word ends with a NUL.
        for word in memory.split(separator: 0, maxSplits: .max, omittingEmptySubsequences: false) {
            let text = String(decoding: word, as: UTF8.self)
            let start = isValue ? 0 : secretStart(in: text)
            isValue = options.contains(text)
            guard let start else { continue }
            for index in word.indices.dropFirst(start) { memory[index] = UInt8(ascii: "*") }
        }
    }

    private static func isSecret(_ word: String) -> Bool { options.contains(word) || secretStart(in: word) != nil }

    /// Returns the offset of the first byte that is secret: of the value in `--user=…`, or after the scheme of a URL
    /// with a user.
    private static func secretStart(in word: String) -> Int? {
        if let sign = word.utf8.firstIndex(of: UInt8(ascii: "=")), options.contains(String(word[..<sign])) {
            return word[...sign].utf8.count
        }
        if word.hasPrefix("-H"), word != "-H" { return 2 }
        return word.credentialRanges(isURL: true).first?.lowerBound
    }

    /// The memory of the command line; `nil` if the system does not say where it is.
    private static var commandLine: UnsafeMutableBufferPointer<UInt8>? {
        guard let file = fopen("/proc/self/stat", "re") else { return nil }
        defer { fclose(file) }
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = fread(&buffer, 1, buffer.count, file)
        // The name of the program is in parentheses and may contain any character; field 48 is the start, 49 the end.
        let fields = String(decoding: buffer[..<count], as: UTF8.self).split(separator: ")").last?.split(separator: " ")
        guard let fields, fields.count > 46, let start = UInt(fields[45]), let end = UInt(fields[46]), start < end
        else { return nil }
        return UnsafeMutableBufferPointer(start: UnsafeMutablePointer(bitPattern: start), count: Int(end - start) - 1)
    }
}
