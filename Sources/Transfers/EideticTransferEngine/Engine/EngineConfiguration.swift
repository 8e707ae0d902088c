package import EideticCore
package import EideticFetch

/// The settings of a ``TransferEngine``.
package struct TransferEngineConfiguration: Sendable {
    /// The directory of the journal and the files.
    package var directory: String
    package var fileSystem = FileSystem()
    package var time: any TimeSource = SystemTime()
    package var backoff = Backoff()
    package var conditions: any TransferConditions = SystemConditions()
    /// The time between two looks at the conditions, while discretionary transfers wait; a minute by default.
    package var conditionInterval: Duration = .seconds(60)
    /// The largest number of bytes of all files of an application; `nil` for a quarter of the file system.
    package var diskLimit: Int?
    /// The bytes of the file system that transfers leave free; 64 MiB by default.
    package var reservedBytes = 64 << 20
    /// The options that all connections have in common: certificates, proxy, pinned keys.
    package var connections = CurlConfiguration(userAgent: "Eidetic/\(Version.current)")
    /// The number of bytes after which a part file is synchronised; 8 MiB by default.
    package var markInterval = 8 << 20
    /// The identifier of the boot; `nil` for that of the kernel.
    package var boot: String?

    /// A Boolean value indicating whether another transfer process may end this process and take the directory.
    package var isReplaceable = false

    package init(directory: String) { self.directory = directory }
}
