/// The identity of one process of an application: the number of its launches up to this process.
///
/// Events name the process they come from, so that those of an earlier process do not change a later one.
package struct ProcessIdentity: Sendable, Hashable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The first process of a ``Lifecycle``.
    package static let first = ProcessIdentity(rawValue: 1)

    var next: ProcessIdentity { ProcessIdentity(rawValue: rawValue &+ 1) }
}
