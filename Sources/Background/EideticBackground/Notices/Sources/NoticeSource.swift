/// A descriptor of the kernel that becomes readable when there is a notice for the application.
protocol NoticeSource: Sendable {
    /// The descriptor to poll; negative if it was lost.
    var descriptor: Int32 { get }

    /// Returns the new notices without blocking.
    mutating func read() -> [Notice]
}
