import EideticCore
import Glibc

/// The inputs to begin with: those of the writers, those found earlier, and images of the corpus.
enum FuzzCorpus {
    /// The folder `Tests/Fuzz`, with a folder of found inputs for each target.
    static let foundDirectory: String = {
        let own = #filePath.split(separator: "/").dropLast(4)
        return "/" + own.joined(separator: "/") + "/Fuzz"
    }()

    /// Returns the inputs found for a target, with their names.
    static func found(for target: FuzzTarget) throws(SystemError) -> [(name: String, bytes: [UInt8])] {
        let directory = "\(foundDirectory)/\(target.name)", files = FileSystem()
        guard (try? files.status(of: directory)) != nil else { return [] }
        var inputs: [(String, [UInt8])] = []
        for name in try files.entryNames(in: directory).sorted() {
            inputs.append((name, try files.contents(of: "\(directory)/\(name)")))
        }
        return inputs
    }

    /// Returns the images of the corpus of a target's formats that are small enough for it.
    ///
    /// The directory is that of `EIDETIC_CORPUS`; without it there are none.
    static func images(for target: FuzzTarget) -> [[UInt8]] {
        guard let root = getenv("EIDETIC_CORPUS").map({ String(cString: $0) }), !target.formats.isEmpty else {
            return []
        }
        return paths(below: root).compactMap { path in
            guard let bytes = try? FileSystem().contents(of: path, limit: target.maximumLength),
                case .format(let format) = ImageFormat.detect(in: bytes, isComplete: true),
                target.formats.contains(format)
            else { return nil }
            return bytes
        }
    }

    private static func paths(below directory: String) -> [String] {
        let files = FileSystem()
        return ((try? files.entryNames(in: directory)) ?? []).sorted().flatMap { name -> [String] in
            let path = "\(directory)/\(name)"
            switch (try? files.linkStatus(of: path))?.kind {
            case .directory: return paths(below: path)
            case .regular: return [path]
            default: return []
            }
        }
    }

    /// Writes all inputs of a target to a directory.
    static func write(for target: FuzzTarget, to directory: String) throws {
        try FileSystem().makeDirectories(directory)
        let inputs = try target.seeds() + images(for: target) + found(for: target).map(\.bytes)
        for (index, bytes) in inputs.enumerated() { try Place.write(bytes, to: "\(directory)/seed-\(index)") }
    }
}
