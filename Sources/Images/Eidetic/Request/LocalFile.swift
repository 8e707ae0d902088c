package import EideticCore
import FoundationEssentials

/// A file of this machine, in the state that it had when this value was created.
///
/// A changed file is another image: its modification time and its size are part of the identity. A request for a path
/// or a `file:` URL has no state of the file yet; each of its loads looks at the file, on a thread of the pipeline.
package struct LocalFile: Sendable, Hashable {
    package let path: String

    /// The identity of this state of the file; `nil` until a load looks at the file.
    let version: String?

    /// Creates a value for a file; blocks for one system call.
    ///
    /// - Throws: `notFound` or `permissionDenied` if its status cannot be read, `invalidArgument` if it is not a
    ///   regular file.
    package init(path: String) throws(EideticError) {
        self.path = path
        do throws(SystemError) {
            let status = try FileSystem().status(of: path)
            guard status.kind == .regular else { throw SystemError(.stat, errorNumber: 0, path: path) }
            version = "\(status.device).\(status.inode).\(status.modificationTime.nanoseconds).\(status.size)"
        } catch {
            guard error.errorNumber != 0 else {
                throw EideticError(.invalidArgument, message: "\(path) is not a regular file")
            }
            throw EideticError(error)
        }
    }

    /// Creates a value for the file that a `file:` URL names, without looking at the file.
    init(unexaminedURL url: String) throws(EideticError) { (path, version) = (try Self.path(of: url), nil) }

    /// Creates a value for the file at a path, without looking at the file.
    init(unexaminedPath path: String) { (self.path, version) = (path, nil) }

    /// Returns the file in its present state, unless a state is known; blocks.
    func examined() throws(EideticError) -> LocalFile { version == nil ? try LocalFile(path: path) : self }

    private static func path(of url: String) throws(EideticError) -> String {
        guard let parsed = URL(string: url), parsed.host() ?? "" == "" || parsed.host() == "localhost" else {
            throw EideticError(.invalidURL, message: "\(url) names no file of this machine")
        }
        return parsed.path(percentEncoded: false)
    }

    /// Reads the file; blocks.
    ///
    /// - Throws: The errors of reading, and one for a file that is larger than `limit`.
    func read(limit: ByteCount) throws(EideticError) -> [UInt8] {
        do throws(SystemError) {
            return try FileSystem().contents(of: path, limit: limit.bytes)
        } catch {
            throw EideticError(error)
        }
    }
}
