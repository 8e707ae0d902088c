import EideticCore
@testable import EideticStore
import Testing

/// Rules for the age of entries, without a directory.
@Suite("EntryAges")
struct EntryAgesTests {
    private static let stored = Timestamp(nanoseconds: 1_000_000_000_000)

    private func ages(_ basis: DiskCache.Configuration.AgeBasis, isReadOnly: Bool = false) -> EntryAges {
        var configuration = DiskCache.Configuration(directory: "/cache")
        configuration.maximumAge = .seconds(100)
        configuration.ageBasis = basis
        configuration.isReadOnly = isReadOnly
        return EntryAges(configuration)
    }

    private func metadata(expiresAfter lifetime: Duration? = nil) -> DiskCache.Metadata {
        var metadata = DiskCache.Metadata(expirationTime: lifetime.map { Self.stored + $0 })
        metadata.storageTime = Self.stored
        return metadata
    }

    @Test("C07 the maximum age counts from the write, or from the latest access where the configuration says so")
    func bases() {
        let read = Self.stored + .seconds(50)
        #expect(ages(.change).expirationTime(of: metadata(), modified: read) == Self.stored + .seconds(100))
        #expect(ages(.access).expirationTime(of: metadata(), modified: read) == read + .seconds(100))
        let own = metadata(expiresAfter: .seconds(7))
        #expect(ages(.access).expirationTime(of: own, modified: read) == Self.stored + .seconds(7))
    }

    @Test("C07 an entry expires at its expiration time, and if it was stored far in the future")
    func expiration() {
        let ages = ages(.change)
        #expect(!ages.isExpired(metadata(), modified: Self.stored, at: Self.stored + .seconds(99)))
        #expect(ages.isExpired(metadata(), modified: Self.stored, at: Self.stored + .seconds(100)))
        #expect(ages.isExpired(metadata(), modified: Self.stored, at: Self.stored + .seconds(-101)))
    }

    @Test("C07 a use extends a life only if ages count from accesses, without an expiration time, where files change")
    func extendedByUse() {
        #expect(ages(.access).isExtendedByUse(metadata()))
        #expect(!ages(.access).isExtendedByUse(metadata(expiresAfter: .seconds(7))))
        #expect(!ages(.access, isReadOnly: true).isExtendedByUse(metadata()))
        #expect(!ages(.change).isExtendedByUse(metadata()))
    }

    @Test("C07 the time to live is the rest of the age, or all of it where a use extends it, and never negative")
    func timeToLive() {
        let now = Self.stored + .seconds(30)
        #expect(ages(.change).timeToLive(of: metadata(), at: now) == .seconds(70))
        #expect(ages(.change).timeToLive(of: DiskCache.Metadata(), at: now) == .seconds(100))
        #expect(ages(.access).timeToLive(of: metadata(), at: now) == .seconds(100))
        #expect(ages(.access, isReadOnly: true).timeToLive(of: metadata(), at: now) == .seconds(70))
        #expect(ages(.change).timeToLive(of: metadata(expiresAfter: .seconds(7)), at: now) == .zero)
    }

    @Test("C07 new metadata do not extend a life that counts from the creation, also if the clock was ahead")
    func replacement() {
        let now = Self.stored + .seconds(30)
        let ages = ages(.creation)
        let replaced = ages.replacement(DiskCache.Metadata(), for: metadata(), at: now)
        #expect(replaced.storageTime == now)
        #expect(replaced.expirationTime == Self.stored + .seconds(100))
        let earlier = Self.stored + .seconds(-500)
        #expect(ages.replacement(.init(), for: metadata(), at: earlier).expirationTime == earlier + .seconds(100))
        #expect(self.ages(.change).replacement(.init(), for: metadata(), at: now).expirationTime == nil)
    }

    @Test("C07 a sweep of too many files selects the oldest, until half of the size is left")
    func oldest() {
        let files = [3, 1, 2, 4].map { number in
            DatedFile(
                key: CacheKey(high: 0, low: UInt64(number)),
                modificationTime: Self.stored + .seconds(number),
                allocatedSize: 10
            )
        }
        #expect(DatedFile.oldest(of: files, exceeding: 40).isEmpty)
        #expect(DatedFile.oldest(of: files, exceeding: 39).map(\.key.low) == [1, 2, 3])
        #expect(DatedFile.oldest(of: files, exceeding: 0).map(\.key.low) == [1, 2, 3, 4])
    }
}
