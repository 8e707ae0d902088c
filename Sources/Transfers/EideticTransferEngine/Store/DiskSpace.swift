import EideticCore

/// The space that the files of an application may take, and that transfers leave free on the file system.
struct DiskSpace {
    private let directory: String
    private let reservedBytes: Int
    private let files: FileSystem
    private var knownLimit: Int?
    /// The bytes that may be written before the free space is looked at again.
    private var free: (bytes: Int, checked: Duration)?

    /// Creates the space of a directory.
    ///
    /// - Parameters:
    ///   - directory: The directory.
    ///   - limit: The bytes of all files of an application; `nil` for a quarter of the file system.
    ///   - reservedBytes: The bytes that transfers leave free.
    ///   - files: The file system.
    init(of directory: String, limit: Int?, reservedBytes: Int, files: FileSystem) {
        self.directory = directory
        self.reservedBytes = reservedBytes
        self.files = files
        knownLimit = limit
    }

    /// Returns the bytes of all files of an application.
    mutating func limit() throws(EideticError) -> Int {
        if let knownLimit { return knownLimit }
        do throws(SystemError) {
            let limit = try files.freeSpace(at: directory).totalBytes / 4
            knownLimit = limit
            return limit
        } catch {
            throw EideticError(error)
        }
    }

    /// Returns the bytes that an application may add to those that it uses; none if nobody knows.
    mutating func room(besides used: Int) -> Int { ((try? limit()) ?? 0) - used }

    /// Throws if the next bytes would exceed the share of an application, or if fewer than the reserved ones would be
    /// left on the file system, which is asked once a second.
    mutating func check(
        for count: Int,
        of application: String,
        using used: Int,
        at now: Duration
    ) throws(EideticError) {
        guard used + count <= (try limit()) else { throw excess(of: application) }
        if free.map({ $0.bytes < count || now - $0.checked >= .seconds(1) }) ?? true {
            guard let space = try? files.freeSpace(at: directory) else { return }
            free = (space.availableBytes - reservedBytes, now)
        }
        guard let left = free?.bytes, left >= count else {
            let message = "fewer than \(reservedBytes) bytes would be left on the file system"
            throw EideticError(.diskFull, message: message)
        }
        free?.bytes = left - count
    }

    /// Returns the error of an application whose files would take too much.
    mutating func excess(of application: String) -> EideticError {
        let message = "the files of \(application) would exceed \((try? limit()) ?? 0) bytes; acknowledge events"
        return EideticError(.limitExceeded, message: message)
    }
}
