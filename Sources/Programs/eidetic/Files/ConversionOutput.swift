import EideticCore
import Glibc

/// The files that a conversion writes: none twice, and no input unless it is its own result in place.
final class ConversionOutput: Sendable {
    /// The place of the results.
    enum Place: Sendable {
        case file(String)
        case directory(String, OutputTemplate)
        /// Each input becomes its own result.
        case inputs
    }

    /// The file or directory of an operand, whatever its name.
    private struct Identity: Hashable {
        let device: UInt64
        let inode: UInt64

        init?(_ path: String) {
            guard path != "-", let status = try? FileSystem().status(of: path) else { return nil }
            device = status.device
            inode = status.inode
        }
    }

    let place: Place
    private let overwrites: Bool
    private let inputs: Set<Identity>
    private let written = Guarded<Set<String>>([])

    /// Finds out which files the inputs are; blocks.
    init(to place: Place, overwrites: Bool, inputs: [String]) {
        self.place = place
        self.overwrites = overwrites
        self.inputs = Set(inputs.compactMap(Identity.init))
    }

    /// Returns the place that `--out` names: a file for one image and a name with an extension, else a directory.
    static func place(named output: String, template: OutputTemplate?, fileCount: Int) -> Place {
        template == nil && fileCount == 1 && isFile(output) ? .file(output) : .directory(output, template ?? .standard)
    }

    /// Returns whether `--out` names a file if there is one image.
    static func isFile(_ output: String) -> Bool {
        if output == "-" { return true }
        if output.hasSuffix("/") { return false }
        if (try? FileSystem().status(of: output).kind) == .directory { return false }
        let name = output.fileName
        return name.dropFirst().contains(".") && name != ".."
    }

    /// The format that the name of a single file stands for; PNG for standard output.
    var format: ImageFormat? {
        guard case .file(let path) = place else { return nil }
        return path == "-" ? .png : ImageFormat(fileName: path)
    }

    /// Returns the path of a result; with a frame's number, `a-2.png` instead of `a.png`.
    func path(for input: InputFiles.File, values: OutputTemplate.Values, frame: Int?) -> String {
        let path =
            switch place {
            case .file(let path): path
            case .inputs: input.path
            case .directory(let directory, let template):
                ([directory, input.folder].filter { !$0.isEmpty } + [template.path(for: values)]).joined(separator: "/")
            }
        return frame.map { Self.numbered(path, number: $0) } ?? path
    }

    /// Writes a result; blocks.
    func write(_ bytes: [UInt8], to path: String, of input: String) throws(EideticError) {
        if path == "-" { return try FileContents.write(bytes, to: path, overwrites: true) }
        let target = Identity(path)
        let isInput = target.map { inputs.contains($0) } ?? false
        var isItself = false
        if case .inputs = place { isItself = target == Identity(input) }
        guard !isInput || isItself else {
            throw EideticError(
                .fileFailure,
                message: "the file is an input; only --in-place replaces it",
                systemErrorNumber: EEXIST
            )
        }
        guard written.withLock({ $0.insert(path).inserted }) else {
            throw EideticError(.fileFailure, message: "two images have this name", systemErrorNumber: EEXIST)
        }
        switch place {
        case .file: try FileContents.write(bytes, to: path, overwrites: overwrites)
        case .inputs: try Self.replace(path, with: bytes)
        case .directory:
            let folder = path.parentPath ?? ""
            if !folder.isEmpty { try FileContents.makeDirectory(folder) }
            try FileContents.replace(path, with: bytes, overwrites: overwrites)
        }
    }

    /// Replaces the file itself where the path is a link, and keeps its permissions.
    private static func replace(_ path: String, with bytes: [UInt8]) throws(EideticError) {
        guard let target = realpath(path, nil) else {
            throw FileContents.error(for: SystemError(.stat, errorNumber: errno, path: path))
        }
        defer { free(target) }
        let mode = (try? FileSystem().status(of: path).permissions) ?? 0o644
        try FileContents.replace(String(cString: target), with: bytes, overwrites: true, mode: mode & 0o777)
    }

    /// Returns the path of a frame's file: `a-2.png` of `a.png`.
    private static func numbered(_ path: String, number: Int) -> String {
        let start = path.fileName.startIndex
        guard let dot = path[start...].lastIndex(of: "."), dot > start else { return "\(path)-\(number)" }
        return "\(path[..<dot])-\(number)\(path[dot...])"
    }
}
