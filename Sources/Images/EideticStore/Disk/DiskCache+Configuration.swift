public import EideticCore

extension DiskCache {
    /// The settings of a disk cache.
    ///
    /// They are fixed when the cache is opened.
    public struct Configuration: Sendable, Hashable {
        /// The path of the cache's directory; a relative one is resolved in the working directory when the cache is
        /// opened.
        ///
        /// A missing directory is created with mode 0700, together with its parents.
        public var directory: String

        /// The largest size of all entries on the device, over all processes that use the directory.
        ///
        /// More than zero. `nil`, the default, means 2 % of the file system's free space when the cache is opened,
        /// between 64 and 512 MiB. A single entry may use half of the limit.
        public var sizeLimit: ByteCount?

        /// The share of the size limit that derived entries may use while originals need the space.
        ///
        /// From 0 to 1; a quarter by default.
        public var derivedShare = 0.25

        /// The free space that the cache leaves on the file system.
        ///
        /// `nil`, the default, means 1 % of the file system, at most 256 MiB.
        public var minimumFreeSpace: ByteCount?

        /// The age at which an entry without an expiration time of its own expires.
        ///
        /// More than zero; one week by default.
        public var maximumAge: Duration = .seconds(7 * 24 * 3_600)

        /// The event from which ``maximumAge`` counts; the latest change by default.
        public var ageBasis = AgeBasis.change

        /// A Boolean value indicating whether a write returns only after its bytes are on the device (`fdatasync`).
        ///
        /// `false` by default: every entry is verified when it is read, so a power cut costs entries but never serves
        /// wrong bytes.
        public var isDurable = false

        /// A Boolean value indicating whether the cache never changes its directory.
        ///
        /// If `true`, writes fail with `permissionDenied`, and a directory that does not exist is an empty cache.
        /// `false` by default.
        public var isReadOnly = false

        /// A Boolean value indicating whether the directory is refused if other users could change it or its path.
        ///
        /// `true` by default. The directory must belong to the effective user, and each directory above it to that user
        /// or root. None may be writable by others, with two exceptions: a directory above with the sticky bit, such as
        /// `/var/tmp`, and group access if the group has the same number as the owner. Set it to `false` only where no
        /// other user exists, for example for a volume of mode 0777 in a container.
        public var requiresPrivateDirectory = true

        /// Read-only directories to search, in order, for keys without an entry in the cache; none by default.
        ///
        /// Their files have no checksums.
        public var bundles: [ImageBundle] = []

        /// The time after which a change fails that waits for another process; 5 s by default.
        package var lockTimeLimit: Duration = .seconds(5)

        /// The event from which an entry's age counts.
        public enum AgeBasis: Sendable, Hashable, CaseIterable {
            /// The entry's write. New metadata for the same bytes does not extend its life.
            case creation
            /// The entry's write or latest change of metadata, so that a 304 response extends its life.
            case change
            /// The entry's latest read, to the second.
            ///
            /// The file's modification time records it. This costs one more system call per read, and at most once a
            /// second another one.
            case access
        }

        /// Creates a configuration with the default settings.
        public init(directory: String) { self.directory = directory }
    }

    /// Returns the cache directory of a namespace: `eidetic/NAMESPACE` in the user's cache directory.
    ///
    /// The user's cache directory is the first of these that is an absolute path other than `/`: `$CACHE_DIRECTORY`
    /// (set by systemd for `CacheDirectory=`), `$XDG_CACHE_HOME`, `$HOME/.cache`, and `/var/tmp/eidetic-UID`. A
    /// directory that another user has created there is refused when the cache is opened. A slash in the namespace
    /// becomes `_`.
    /// - SeeAlso: XDG Base Directory Specification 0.8; systemd.exec(5), `CacheDirectory=`.
    public static func defaultDirectory(namespace: String = "default") -> String {
        "\(ProcessEnvironment.cacheDirectory)/eidetic/\(directoryName(of: namespace))"
    }

    package static func directoryName(of namespace: String) -> String {
        let characters = namespace.unicodeScalars.map { $0 == "/" || $0 == "\0" ? "_" : Character($0) }
        let name = characters.reduce(into: "") { $0.append($1) }
        return name.isEmpty || name == "." || name == ".." ? "_" : name
    }
}
