/// Two programs that talk to each other in different versions of their messages.
///
/// The first message of each side begins with the kind 1 and the version, in all versions: whatever follows, a peer can
/// tell which of the two is too old.
package struct VersionMismatch: Sendable, CustomStringConvertible {
    /// The name of this program in a sentence, and the version that it speaks.
    package let own: (name: String, version: UInt32)
    /// The same of its peer.
    package let peer: (name: String, version: UInt32)

    /// Creates the mismatch of two versions; `nil` if they are equal.
    package init?(of own: String, version: UInt32, and peer: String, version peerVersion: UInt32) {
        guard version != peerVersion else { return nil }
        self.own = (own, version)
        self.peer = (peer, peerVersion)
    }

    /// The versions, and which program must be updated.
    package var description: String {
        let old = own.version < peer.version ? own.name : peer.name
        return "\(peer.name) speaks version \(peer.version) of the messages, and \(own.name) version \(own.version): "
            + "\(old) is too old and must be updated"
    }
}
