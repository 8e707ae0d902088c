public import EideticCore
import FoundationEssentials

/// A file of this machine, in the state it had when it was named.
///
/// A file that changes is another picture: its time of change and its size are part of the identity.
public struct LocalFile: Sendable, Hashable {
    /// The file's path.
    public let path: String

    /// What tells this state of the file from others.
    let version: String

    /// Looks at a file; blocks for one system call.
    ///
    /// Throws `notFound` or `permissionDenied` where it cannot be seen, `invalidArgument` where it is no regular file.
    public init(path: String) throws(EideticError) {
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

    /// Looks at the file that a `file:` URL names.
    public init(url: String) throws(EideticError) {
        guard let parsed = URL(string: url), parsed.host() ?? "" == "" || parsed.host() == "localhost" else {
            throw EideticError(.invalidURL, message: "\(url) names no file of this machine")
        }
        try self.init(path: parsed.path(percentEncoded: false))
    }

    func read(limit: ByteCount) throws(EideticError) -> [UInt8] {
        do throws(SystemError) {
            return try FileSystem().contents(of: path, limit: limit.bytes)
        } catch {
            throw EideticError(error)
        }
    }
}
