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

    /// Returns `true` if bytes have the signature of a profile; otherwise, `false`.
    static func hasSignature(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { $0.count >= headerLength && $0.contains("acsp", at: 36) }
    }

    /// Returns the profile with only those tags in its table that a conversion uses, each at most once.
    ///
    /// - Returns: `nil` if the profile is larger than ``maximumSize``, or its table is incomplete or has more than
    ///   ``maximumTagCount`` tags.
    package static func reduced(_ profile: [UInt8]) -> [UInt8]? {
        guard profile.count <= maximumSize, let tags = profile.withUnsafeBytes({ tags(in: $0) }) else { return nil }
        var reduced = profile
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

    /// Returns the colours of the code points in a profile, if they are of high dynamic range; tables cannot state
    /// them.
    ///
    /// - SeeAlso: ICC.1:2022, sections 9.2.17 and 10.3 (`cicp`).
    static func highDynamicRange(_ profile: [UInt8]) -> ColourSpace? {
        guard profile.count <= maximumSize else { return nil }
        return profile.withUnsafeBytes { bytes in
            guard let tag = tags(in: bytes)?.first(where: { $0.signature == codePointSignature }),
                let offset = bytes.bigEndian32(at: tag.offset + 4), bytes.bigEndian32(at: offset) == codePointSignature,
                let primaries = bytes.uint8(at: offset + 8), let transfer = bytes.uint8(at: offset + 9),
                HighDynamicRange.Encoding(codePoint: transfer) != nil
            else { return nil }
            return ColourSpace(primaries: primaries, transfer: transfer)
        }
    }

    private static let codePointSignature = 0x6369_6370

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
