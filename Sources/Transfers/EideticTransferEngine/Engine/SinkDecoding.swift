import EideticCore
import EideticFetch
import EideticTransfer
import Glibc

/// The decoding of a complete body, piece by piece between other work of the engine, into a body of its own.
///
/// A download is resumed by its coded bytes, so they are decoded when all of them are there. It is used on the engine's
/// thread only.
final class SinkDecoding {
    let result: BodySink
    private let decoder: BodyDecoder
    private let source: BodySink
    private let sourceFile: BodySink.File?
    private let url: String
    private let fileSystem: FileSystem
    private let buffer: UnsafeMutableRawBufferPointer
    private var position = 0
    private var isComplete = false

    /// The number of bytes, coded and decoded ones together, of one piece.
    private static let share = 262_144

    /// Creates the decoding of a body; `nil` if nothing is to be decoded.
    ///
    /// - Parameters:
    ///   - source: The body.
    ///   - part: The description of the body, with its header fields.
    ///   - path: The path of the decoded body, unless it is small.
    ///   - fileSystem: The file system.
    /// - Throws: `outOfMemory`; an error of the file system.
    init?(
        of source: BodySink,
        part: PartDescription,
        to path: String,
        fileSystem: FileSystem
    ) throws(EideticError) {
        let (codings, isUncertain) = BodyDecoder.codings(of: part.headers)
        guard source.length > 0, let coding = codings.last else { return nil }
        guard let decoder = BodyDecoder(codings) else {
            throw EideticError(.outOfMemory, message: "\(part.effectiveURL): no memory to decode the body")
        }
        do throws(SystemError) {
            sourceFile = source.file == nil ? nil : BodySink.File(try fileSystem.open(source.path, flags: O_RDONLY))
            if isUncertain, try !source.start(readingFrom: sourceFile).withUnsafeBytes(coding.isSigned) { return nil }
        } catch {
            throw EideticError(error)
        }
        self.decoder = decoder
        self.source = source
        self.fileSystem = fileSystem
        url = part.effectiveURL
        // Not before: without an object there is no `deinit`.
        buffer = .allocate(byteCount: BodyDecoder.outputSize, alignment: 16)
        result = BodySink(path: path, fileSystem: fileSystem) { () throws(SystemError) in }
    }

    deinit {
        buffer.deallocate()
        if !isComplete, result.file != nil { fileSystem.removeIfPresent(result.path) }
    }

    /// Decodes a piece.
    ///
    /// - Parameter admit: A function that throws if there is no space for so many bytes.
    /// - Returns: `true` at the end of the body; otherwise, `false`.
    /// - Throws: The error of `admit` and of the file system; `badResponse` if the body is not coded in this way.
    func decodePiece(admit: (Int) throws(EideticError) -> Void) throws(EideticError) -> Bool {
        var work = 0
        while work < Self.share {
            guard decoder.hasPendingBytes else {
                let count = try readNext()
                if count > 0 {
                    work += count
                    continue
                }
                guard decoder.hasAllData else {
                    throw error("the body ends before its end as \(decoder.coding.rawValue)")
                }
                isComplete = true
                return true
            }
            guard let step = decoder.decodeStep() else {
                throw error("the body is not coded as \(decoder.coding.rawValue)")
            }
            work += step.work
            guard !step.bytes.isEmpty else { continue }
            try admit(step.bytes.count)
            do throws(SystemError) { try result.append(step.bytes) } catch { throw EideticError(error) }
        }
        return false
    }

    /// Passes the next bytes to the decoder, and returns their number; 0 at the end.
    private func readNext() throws(EideticError) -> Int {
        guard sourceFile != nil else {
            let chunk = source.buffer[min(position, source.length)...].prefix(buffer.count)
            chunk.withUnsafeBytes { decoder.append($0) }
            position += chunk.count
            return chunk.count
        }
        let count = try readFile()
        decoder.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        position += count
        return count
    }

    private func readFile() throws(EideticError) -> Int {
        guard let sourceFile else { return 0 }
        do throws(SystemError) {
            return try fileSystem.read(sourceFile.descriptor, into: buffer)
        } catch {
            throw EideticError(error)
        }
    }

    private func error(_ fault: String) -> EideticError {
        EideticError(.badResponse, message: "\(url): \(fault)")
    }
}
