/// The part of a colour profile that is converted from.
///
/// LittleCMS builds everything that a profile's tags name, within one call that cannot be interrupted. A multi-process
/// tag (`D2B0` to `D2B3`, `B2D0` to `B2D3`) may name thousands of stages that share the same bytes, and takes minutes.
/// Every profile with such tags has the usual ones too, so only those are left in.
///
/// - SeeAlso: ICC.1:2022, sections 7.3 and 9.2.
package enum ICCProfile {
    /// The maximum size of a profile: 4 MiB, as in Firefox.
    ///
    /// Real profiles have at most 4 MB.
    package static let maximumSize = 4 << 20

    /// The maximum number of tags, as in LittleCMS.
    package static let maximumTagCount = 100

    /// The tags that a conversion uses: look-up tables, primaries, curves, white and black points, and the description.
    private static let usedTags: Set<Int> = Set(
        [
            "A2B0", "A2B1", "A2B2", "B2A0", "B2A1", "B2A2", "rXYZ", "gXYZ", "bXYZ", "rTRC", "gTRC", "bTRC", "kTRC",
            "wtpt", "bkpt", "chad", "desc",
        ].map { $0.utf8.reduce(0) { $0 << 8 | Int($1) } }
    )

    private static let headerLength = 128

    /// The offsets of the version and of the class in the header.
    private static let versionOffset = 8, classOffset = 12

    /// Returns `true` if bytes have the signature of a profile; otherwise, `false`.
    static func hasSignature(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { $0.count >= headerLength && $0.contains("acsp", at: 36) }
    }

    /// Returns the profile with only those tags in its table that a conversion uses, each at most once.
    ///
    /// As in browsers, the class plays no part, so it becomes that of a display.
    ///
    /// - Returns: `nil` if the profile is larger than ``maximumSize``, of a later version than 4, or shorter than its
    ///   header states, or its table is incomplete or has more than ``maximumTagCount`` tags.
    package static func reduced(_ profile: [UInt8]) -> [UInt8]? {
        guard let tags = profile.withUnsafeBytes({ usableTags(in: $0) }) else { return nil }
        var reduced = profile
        reduced.replaceSubrange(classOffset..<classOffset + 4, with: "mntr".utf8)
        var used = usedTags
        var offset = headerLength + 4
        for tag in tags where used.remove(tag.signature) != nil {
            reduced.replaceSubrange(offset..<offset + 12, with: profile[tag.offset..<tag.offset + 12])
            offset += 12
        }
        let count = (offset - headerLength - 4) / 12
        reduced.replaceSubrange(headerLength..<headerLength + 4, with: [0, 0, 0, UInt8(count)])
        return reduced
    }

    /// Returns the code points in a profile, which come before its primaries and curves.
    ///
    /// - SeeAlso: ICC.1:2022, sections 9.2.17 and 10.3 (`cicp`).
    static func codePoints(in profile: [UInt8]) -> CodePoints? {
        profile.withUnsafeBytes { bytes in
            guard let tag = usableTags(in: bytes)?.first(where: { $0.signature == codePointSignature }),
                let offset = bytes.bigEndian32(at: tag.offset + 4), bytes.bigEndian32(at: offset) == codePointSignature,
                let content = bytes.slice(at: offset + 8, count: 4)
            else { return nil }
            return CodePoints(content)
        }
    }

    private static let codePointSignature = 0x6369_6370

    /// Returns the tags of a profile that browsers use; `nil` if they ignore it.
    private static func usableTags(in profile: UnsafeRawBufferPointer) -> [(signature: Int, offset: Int)]? {
        guard profile.count <= maximumSize, let size = profile.bigEndian32(at: 0), size <= profile.count,
            let version = profile.uint8(at: versionOffset), version <= 4
        else { return nil }
        return tags(in: profile)
    }

    /// Returns the signature of each tag and the offset of its entry in the table.
    private static func tags(in profile: UnsafeRawBufferPointer) -> [(signature: Int, offset: Int)]? {
        guard let count = profile.bigEndian32(at: headerLength), count <= maximumTagCount else { return nil }
        var tags: [(signature: Int, offset: Int)] = []
        for index in 0..<count {
            let offset = headerLength + 4 + 12 * index
            guard let signature = profile.bigEndian32(at: offset), profile.slice(at: offset, count: 12) != nil else {
                return nil
            }
            tags.append((signature, offset))
        }
        return tags
    }
}
