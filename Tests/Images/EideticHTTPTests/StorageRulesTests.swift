import EideticCore
import EideticHTTP
import Testing

@Suite("The place of a response")
struct StorageRulesTests {
    private static let now = Timestamp(seconds: 1_700_000_000)

    private func response(_ status: Int = 200, _ fields: String...) -> ResponseFreshness.Response {
        ResponseFreshness.Response(
            status: status,
            fields: fields.flatMap { EideticHTTPTests.fields($0) },
            requestTime: Self.now,
            responseTime: Self.now
        )
    }

    // RFC 9111, section 3; a chain is stored under its first URL only if each of its responses may be.
    @Test(
        "C20 a chain of redirects that must not be stored leaves the response to its own URL",
        arguments: [
            (301, "Cache-Control: max-age=60", "ETag: \"a\"", StoragePlace.resource, StoragePlace.resource),
            (302, "Cache-Control: no-store", "ETag: \"a\"", .target, .none),
            (302, "X: y", "ETag: \"a\"", .target, .resource),
            (301, "Vary: Accept", "ETag: \"a\"", .target, .none),
            (301, "Vary: Accept", "Vary: Accept, DPR", .resource, .resource),
            (301, "Cache-Control: max-age=60", "Cache-Control: no-store", .none, .none),
        ]
    )
    func place(status: Int, redirect: String, last: String, fresh: StoragePlace, traditional: StoragePlace) {
        let redirects = [response(status, redirect)]
        #expect(StorageRules(usesFreshness: true).place(of: response(200, last), redirects: redirects) == fresh)
        let rules = StorageRules(usesFreshness: false)
        #expect(rules.place(of: response(200, last), redirects: redirects) == traditional)
    }

    @Test("C20 what depends on the cookies of a jar is not stored, nor what the request forbids to")
    func forbidden() {
        let varying = response(200, "Vary: Cookie")
        #expect(StorageRules(usesFreshness: false, usesCookies: true).place(of: varying) == .none)
        #expect(StorageRules(usesFreshness: false).place(of: varying) == .resource)
        #expect(StorageRules(usesFreshness: true, usesCookies: true).place(of: response(200, "Vary: *")) == .none)
        let fields = EideticHTTPTests.fields("Cache-Control: no-store")
        #expect(StorageRules(usesFreshness: true, requestFields: fields).place(of: response()) == .none)
    }

    // RFC 9111, section 4.2.3: the second between request and response counts as age.
    @Test("C20 a confirmation replaces the fields that it has, and begins the age anew")
    func confirmed() {
        let later = ResponseFreshness.Response(
            status: 304,
            fields: [],
            requestTime: Self.now + .seconds(9),
            responseTime: Self.now + .seconds(10)
        )
        let stored = response(200, "ETag: \"a\"", "Cache-Control: max-age=1", "Age: 7")
        let confirmed = stored.confirmed(by: later, fields: EideticHTTPTests.fields("Cache-Control: max-age=60"))
        #expect(confirmed.status == 200)
        #expect(confirmed.fields.values(of: "etag") == ["\"a\""])
        #expect(confirmed.fields.values(of: "age").isEmpty)
        #expect(ResponseFreshness(confirmed).remainder(at: Self.now + .seconds(20)) == .seconds(49))
    }

    // RFC 9111, sections 3 and 5.2.2.10.
    @Test(
        "C20 other machines get what is public, for the time that the server gives to shared caches",
        arguments: [
            (200, "Cache-Control: max-age=60", 60), (200, "Cache-Control: max-age=60, s-maxage=10", 10),
            (200, "X: y", 1_000), (200, "Cache-Control: max-age=5000", 1_000),
            (200, "Cache-Control: private, max-age=60", nil), (200, "Cache-Control: no-cache", nil),
            (200, "Set-Cookie: a=b", nil), (200, "Vary: User-Agent", nil), (200, "Vary: *", nil),
            (404, "Cache-Control: max-age=60", nil), (200, "Cache-Control: max-age=0", nil),
        ] as [(Int, String, Int?)]
    )
    func shared(status: Int, field: String, seconds: Int?) {
        let lifetime = SharedLifetime.value(of: response(status, field), limit: .seconds(1_000), at: Self.now)
        #expect(lifetime == seconds.map { .seconds($0) })
    }
}
