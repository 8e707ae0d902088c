import EideticCodecs
package import EideticCore

/// The memory that a decode needs in its process, in bytes.
package struct DecodeMemory: Sendable, Hashable {
    /// The peak memory of the decode.
    package let working: Int
    /// The memory that a decoder of previews keeps from one preview to the next; 0 for a whole image.
    package let kept: Int

    package init(working: Int, kept: Int) { (self.working, self.kept) = (working, kept) }

    init(_ session: DecodeSession, isPreview: Bool) {
        self.init(working: session.workingMemory, kept: isPreview ? session.feedMemory : 0)
    }
}

extension DecodeMemory: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        writer.append(working)
        writer.append(kept)
    }

    package init(from reader: inout WireReader) throws(WireError) {
        self.init(working: try reader.integer(), kept: try reader.integer())
        guard working >= 0, kept >= 0 else { throw .unknownCase(type: "memory", value: 0) }
    }
}
