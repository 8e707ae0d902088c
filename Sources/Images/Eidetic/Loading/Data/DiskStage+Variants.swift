import EideticCore
import EideticFetch
import EideticHTTP
import EideticStore

/// Several responses of one URL side by side, selected by fields of the request (`Vary`).
///
/// The first response has the key of the resource. The keys of the others contain a number that the first one records,
/// and a digest of the selecting fields. So they are no longer found after the first one was removed or replaced by a
/// response that another set of fields selects, and are evicted as any other entry.
extension DiskStage {
    /// Returns the fields by which a server may select a response to a request.
    func selectingFields(for load: Load) async throws(EideticError) -> [HTTPField] {
        guard let server = load.server else { return [] }
        return try await downloader.selectingFields(for: server)
    }

    /// Returns the key of the variant that suits a request; `nil` if that is the entry itself.
    ///
    /// It blocks.
    func variantKey(besides stored: StoredEntry, for fields: [HTTPField]) -> String? {
        guard let disk, rules.dependsOnFields(stored), let selection = Vary(stored.fields).selection(from: fields)
        else {
            return nil
        }
        let key = Self.key(ofVariant: selection, number: stored.record.variants, of: stored.entry.key)
        return Self.digest(in: disk.storedKeyForReading(key)) == stored.record.selectingDigest ? nil : key
    }

    /// Sets the key, and the record, of a response that fields of the request selected.
    ///
    /// It blocks.
    func assignKey(_ key: String, to retention: inout Retention) throws(EideticError) -> String {
        guard let disk, !retention.selection.isEmpty else { return key }
        let first = try disk.lookup.info(for: key)?.metadata
        let known = first?.response
        let hasSameFields = first.map { Vary($0.headers) } == Vary(retention.metadata.headers)
        let number = hasSameFields ? known?.variants ?? 0 : 0
        retention.record.variants = number == 0 ? UInt64.random(in: 1 ... .max) : number
        let variantKey = Self.key(ofVariant: retention.selection, number: retention.record.variants, of: key)
        let digest = Self.digest(in: try disk.storedKeyForWriting(variantKey))
        retention.record.selectingDigest = digest
        return number == 0 || known?.selectingDigest == digest ? key : variantKey
    }

    /// Returns the key of a variant; the disk stores the fields, which may be secret, in the form of a keyed digest.
    private static func key(ofVariant selection: String, number: UInt64, of key: String) -> String {
        "\(key)\nvariant \(number)" + SecretKeyPart.text(for: selection)
    }

    /// Returns the digest at the end of a stored key.
    private static func digest(in storedKey: String) -> String { String(storedKey.suffix(2 * Digest.size)) }
}
