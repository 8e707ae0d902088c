import EideticCore

/// The image files of a command line: operands, lists (`@FILE`), and with `-r` directories.
struct InputFiles {
    /// An image file.
    struct File: Sendable {
        let path: String
        /// The directory below the operand in which it was found; empty for an operand.
        var folder = ""
    }

    /// The largest number of directories within one another.
    private static let depthLimit = 64

    /// The files in their order; those of a directory by name.
    private(set) var files: [File] = []
    /// The error messages for lists and directories that could not be read.
    private(set) var problems: [String] = []

    /// Reads lists and directories; blocks.
    init(_ operands: [String], isRecursive: Bool = false) {
        let list = URLList(operands, readsStandardInput: false)
        problems = list.problems
        for path in list.urls {
            if isRecursive, (try? FileSystem().status(of: path).kind) == .directory {
                addDirectory(path)
            } else {
                files.append(File(path: path))
            }
        }
    }

    /// Adds the files below a directory whose extensions are those of images; links to directories are not followed.
    private mutating func addDirectory(_ root: String) {
        let system = FileSystem()
        // A loop, because whoever made the directories decides their depth.
        var pending = [(folder: "", depth: 0)]
        while let (folder, depth) = pending.popLast() {
            let directory = folder.isEmpty ? root : "\(root)/\(folder)"
            do throws(SystemError) {
                var folders: [(String, Int)] = []
                for name in try system.entryNames(in: directory).sorted() {
                    let path = "\(directory)/\(name)", kind = try? system.linkStatus(of: path).kind
                    if kind == .directory {
                        folders.append((folder.isEmpty ? name : "\(folder)/\(name)", depth + 1))
                    } else if ImageFormat(fileName: name) != nil, kind == .regular || kind == .symbolicLink {
                        files.append(File(path: path, folder: folder))
                    }
                }
                guard depth < Self.depthLimit || folders.isEmpty else {
                    problems.append("\(directory): more than \(Self.depthLimit) directories within one another")
                    continue
                }
                pending += folders.reversed()
            } catch {
                problems.append("\(directory): \(FileContents.error(for: error).message)")
            }
        }
    }
}
