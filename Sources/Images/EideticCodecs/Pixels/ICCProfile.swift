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

    /// The tags that a conversion uses: look-up tables, primaries, curves, white and black points, and the description.
    private static let usedTags: Set<Int> = Set(
        [
            "A2B0", "A2B1", "A2B2", "B2A0", "B2A1", "B2A2", "rXYZ", "gXYZ", "bXYZ", "rTRC", "gTRC", "bTRC", "kTRC",
            "wtpt", "bkpt", "chad", "desc",
        ].map(signature)
    )

    private static let headerLength = 128
    private static let tableOffset = headerLength + 4

    /// The offsets of the version and of the class in the header.
    private static let versionOffset = 8, classOffset = 12

    /// Returns `true` if bytes have the signature of a profile; otherwise, `false`.
    static func hasSignature(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { $0.count >= headerLength && $0.contains("acsp", at: 36) }
    }

    /// Returns the profile with only those tags in its table that a conversion uses, each at most once.
    ///
    /// As in browsers, the class plays no part, so it becomes that of a display, and the colorimetric table (`A2B1`)
    /// stands in for a missing perceptual one (`A2B0`).
    ///
    /// - Returns: `nil` if the profile is larger than ``maximumSize``, of a later version than 4, or shorter than its
    ///   header states, or its white point, a tag's place or a curve is impossible.
    package static func reduced(_ profile: [UInt8]) -> [UInt8]? {
        guard let entries = profile.withUnsafeBytes({ usedEntries(in: $0) }) else { return nil }
        var reduced = profile
        reduced.replaceSubrange(classOffset..<classOffset + 4, with: "mntr".utf8)
        let table = tableOffset..<tableOffset + entries.count
        reduced.replaceSubrange(headerLength..<table.upperBound, with: [0, 0, 0, UInt8(entries.count / 12)] + entries)
        return reduced
    }

    /// Returns the entries of the table whose tags a conversion uses.
    private static func usedEntries(in profile: UnsafeRawBufferPointer) -> [UInt8]? {
        guard let tags = usableTags(in: profile) else { return nil }
        var used = usedTags
        // A curve of grey that leads to lightness is unknown to browsers.
        if isGrey(profile), profile.contains("Lab ", at: 20) { used.remove(signature("kTRC")) }
        let hasTable = tags.contains { $0.signature == signature("A2B0") }
        return tags.reduce(into: []) { entries, tag in
            guard used.remove(tag.signature) != nil else { return }
            entries += profile[tag.entry..<tag.entry + 12]
            guard !hasTable, tag.signature == signature("A2B1") else { return }
            entries.replaceSubrange(entries.count - 12..<entries.count - 8, with: "A2B0".utf8)
        }
    }

    /// Returns the code points in a profile, which come before its primaries and curves.
    ///
    /// - SeeAlso: ICC.1:2022, sections 9.2.17 and 10.3 (`cicp`).
    static func codePoints(in profile: [UInt8]) -> CodePoints? {
        profile.withUnsafeBytes { bytes in
            guard let tag = usableTags(in: bytes)?.first(where: { $0.signature == signature("cicp") }),
                tag.content.contains("cicp", at: 0), let content = tag.content.slice(at: 8, count: 4)
            else { return nil }
            return CodePoints(content)
        }
    }

    /// A tag of a profile.
    private struct Tag {
        let signature: Int
        /// The offset of its entry in the table.
        let entry: Int
        let content: UnsafeRawBufferPointer
    }

    private static func signature(_ name: String) -> Int { name.utf8.reduce(0) { $0 << 8 | Int($1) } }

    private static func isGrey(_ profile: UnsafeRawBufferPointer) -> Bool { profile.contains("GRAY", at: 16) }

    /// Returns the tags of a profile; `nil` if browsers ignore it (Chromium 156).
    private static func usableTags(in profile: UnsafeRawBufferPointer) -> [Tag]? {
        guard profile.count <= maximumSize, let size = profile.bigEndian32(at: 0), size <= profile.count,
            let version = profile.uint8(at: versionOffset), version <= 4, hasUsualWhite(profile),
            let tags = tags(in: UnsafeRawBufferPointer(rebasing: profile.prefix(size)))
        else { return nil }
        let curves = Set((isGrey(profile) ? ["kTRC"] : ["rTRC", "gTRC", "bTRC"]).map(signature))
        return tags.allSatisfy { !curves.contains($0.signature) || isUsable(curve: $0.content) } ? tags : nil
    }

    /// Returns `true` if the header states the white of profiles, D50, to a hundredth; otherwise, `false`.
    private static func hasUsualWhite(_ profile: UnsafeRawBufferPointer) -> Bool {
        zip([68, 72, 76], [0.9642, 1, 0.8249]).allSatisfy { offset, expected in
            fixed(in: profile, at: offset).map { abs($0 - expected) <= 0.01 } ?? false
        }
    }

    /// Returns each tag, of at least four bytes; `nil` if one is not within the profile.
    private static func tags(in profile: UnsafeRawBufferPointer) -> [Tag]? {
        guard let count = profile.bigEndian32(at: headerLength), count <= profile.count / 12 else { return nil }
        var tags: [Tag] = []
        for index in 0..<count {
            let entry = tableOffset + 12 * index
            guard let signature = profile.bigEndian32(at: entry), let offset = profile.bigEndian32(at: entry + 4),
                let length = profile.bigEndian32(at: entry + 8), length >= 4,
                let content = profile.slice(at: offset, count: length)
            else { return nil }
            tags.append(Tag(signature: signature, entry: entry, content: content))
        }
        return tags
    }

    /// Returns `false` for a parametric curve that falls, or that raises negative values to a power.
    ///
    /// - SeeAlso: ICC.1:2022, section 10.18.
    private static func isUsable(curve: UnsafeRawBufferPointer) -> Bool {
        guard curve.contains("para", at: 0) else { return true }
        let counts = [1, 3, 4, 5, 7]
        guard let kind = curve.bigEndian16(at: 8), kind < counts.count else { return false }
        let values = (0..<counts[kind]).compactMap { fixed(in: curve, at: 12 + 4 * $0) }
        guard values.count == counts[kind], values[0] >= 0 else { return false }
        guard kind > 0 else { return true }
        let (scale, offset) = (values[1], values[2])
        // Without a linear part, the power begins where its base is 0.
        guard kind > 2 else { return scale > 0 && offset <= 0 }
        let (slope, limit) = (values[3], values[4])
        return scale >= 0 && slope >= 0 && limit >= 0 && scale * limit + offset >= 0
    }

    private static func fixed(in bytes: UnsafeRawBufferPointer, at offset: Int) -> Double? {
        bytes.bigEndian32(at: offset).map { Double(Int32(truncatingIfNeeded: $0)) / 65_536 }
    }
}
