/// The sentences about an application for `eidetic app why`.
struct ApplicationRemarks {
    /// The way in which its last process ended.
    var exit: String?
    /// The reason for which a request was refused last.
    var refusal: String?
    /// The last obstacle, such as a lock that was held at suspension.
    var obstacle: String?
}
