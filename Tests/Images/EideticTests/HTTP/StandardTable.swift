/// A requirement of a standard, what Eidetic does, and the scenario or test that shows it.
struct StandardRow: Sendable {
    let section: String
    let requirement: String
    let conduct: String
    /// The name of a scenario, or the end of the name of a test of a rule; empty where nothing of it is implemented.
    let proof: String
}

/// The requirements (MUST and SHOULD) of RFC 9111, sections 3, 4 and 5, that concern a private cache.
enum StandardTable {
    static let rows: [StandardRow] = storing + constructing + ages + validating + directives + others

    private static func row(_ section: String, _ requirement: String, _ conduct: String, _ proof: String) -> StandardRow
    {
        StandardRow(section: section, requirement: requirement, conduct: conduct, proof: proof)
    }

    private static let storing = [
        row("3", "MUST NOT store unless the method is understood", "GET is the only method", ""),
        row("3", "MUST NOT store unless the status is final", "obeyed", "only responses that may be stored are stored"),
        row(
            "3",
            "MUST NOT store 206, 304 or `must-understand` unless the cache understands the status",
            "206 and 304 are never stored by themselves; 200, 203, 301, 308, 404 and 410 are understood",
            "must-understand with a status that is not understood"
        ),
        row("3", "MUST NOT store with `no-store`", "obeyed", "a response with no-store is not kept"),
        row(
            "3",
            "MUST NOT store without `public`, `private`, `Expires`, `max-age` or a status of RFC 9110, 15.1",
            "obeyed; `private` alone does not make another status storable",
            "201 without a lifetime is not kept"
        ),
        row(
            "3",
            "(MAY store errors and redirects)",
            "errors are remembered by the failure list, for no longer than they allow; redirects limit what is kept",
            "a 403 with a lifetime is remembered for no longer"
        ),
        row("3", "`private` is for shared caches", "such responses are stored", "a private response is kept"),
        row(
            "3.1",
            "MUST include all fields except those of the connection",
            "obeyed; fields for proxies are left out as well",
            "fields of the connection are not stored"
        ),
        row(
            "3.2",
            "MUST update all stored fields from a 304, with exceptions",
            "obeyed, except `Content-Encoding`, `-Length`, `-Range` and `-Type`, which describe the stored bytes",
            "a 304 response updates the stored fields, except those of the body"
        ),
        row(
            "3.3",
            "MUST NOT use an incomplete response as complete",
            "obeyed: a body that is shorter than announced is an error, and nothing of it is stored here",
            "each fault has its own outcome"
        ),
        row(
            "3.4",
            "MUST combine parts only with the same strong validator",
            "obeyed, for resumed downloads",
            "a strong validator is a strong tag, or a date at least a minute before the response's"
        ),
        row("3.5", "`Authorization` in shared caches", "not a shared cache; credentials are part of the key", ""),
    ]

    private static let constructing = [
        row(
            "4",
            "MUST NOT reuse for another URI",
            "obeyed; query items that the application names are ignored at its request",
            "a private response is kept"
        ),
        row(
            "4",
            "MUST NOT reuse unless the selecting fields match",
            "obeyed",
            "a field of a hook: two variants side by side"
        ),
        row(
            "4",
            "MUST NOT reuse with `no-cache` unless validated",
            "obeyed, also with field names",
            "no-cache: the entry is confirmed before each use"
        ),
        row(
            "4",
            "MUST NOT reuse unless fresh, allowed to be stale, or validated",
            "obeyed",
            "the age counts from the request"
        ),
        row(
            "4",
            "MUST send an Age field with a response that was not validated",
            "images are delivered without fields",
            ""
        ),
        row("4", "MUST write unsafe requests through", "GET is the only method", ""),
        row(
            "4",
            "MUST use the most recent of several suitable responses",
            "only one is stored for each selection of fields",
            "a full response to a condition replaces the entry"
        ),
        row("4", "MUST revalidate without a clock", "there is a clock", ""),
        row(
            "4.1",
            "MUST NOT use a response whose selecting fields differ",
            "obeyed, also for fields of hooks and of the configuration; header fields of the request itself are part of "
                + "the key, whether the response names them or not",
            "a field of the configuration"
        ),
        row(
            "4.1",
            "fields match after normalisation of white space and joining",
            "obeyed; order counts",
            "values are compared without the white space around commas"
        ),
        row(
            "4.1",
            "`Vary: *` never matches",
            "such a response is confirmed by its entity tag before each use, and without a tag requested anew",
            "Vary: *: the entry is confirmed by its tag before each use"
        ),
    ]

    private static let ages = [
        row(
            "4.2",
            "SHOULD match dates without regard to case",
            "obeyed",
            "the three formats of dates are parsed"
        ),
        row(
            "4.2",
            "MUST NOT let local time zones influence an age",
            "obeyed: all dates are GMT",
            "an invalid date is rejected"
        ),
        row("4.2", "SHOULD consider a zone other than GMT invalid", "obeyed", "an invalid date is rejected"),
        row(
            "4.2.1",
            "SHOULD treat conflicting directives as stale or use the first",
            "they are stale",
            "the freshness lifetime follows from the response's fields"
        ),
        row(
            "4.2.1",
            "SHOULD treat invalid freshness information as stale",
            "obeyed",
            "an Expires date that does not exist is in the past"
        ),
        row(
            "4.2.2",
            "MUST NOT use a heuristic with an explicit lifetime",
            "obeyed",
            "the freshness lifetime follows from the response's fields"
        ),
        row(
            "4.2.2",
            "MUST NOT use a heuristic for other statuses, unless `public`",
            "obeyed",
            "202 without a lifetime is not kept"
        ),
        row(
            "4.2.2",
            "(suggests a tenth of the time since the last modification)",
            "obeyed, at most a day",
            "203 without a lifetime is kept as long as its date allows"
        ),
        row(
            "4.2.3",
            "the age counts Date, Age, the delay of the response and the time in the cache",
            "obeyed",
            "in memory too the age counts from the request"
        ),
        row(
            "4.2.4",
            "MUST NOT send stale responses that a directive prohibits",
            "obeyed",
            "must-revalidate: a stale entry is not used if the origin cannot be reached"
        ),
        row(
            "4.2.4",
            "MUST NOT send stale responses unless disconnected or explicitly permitted",
            "obeyed; an entry above the maximum age of the disk is never used stale",
            "an error of the server is delivered instead of a stale entry without stale-if-error"
        ),
    ]

    private static let validating = [
        row("4.3.1", "MUST send the entity tags of the selected response", "obeyed", "both validators are sent"),
        row("4.3.1", "SHOULD send the modification date", "obeyed", "both validators are sent"),
        row("4.3.2", "requests of clients with conditions", "the process itself is the only client", ""),
        row(
            "4.3.3",
            "MUST use a full response instead of the stored one",
            "obeyed",
            "a full response to a condition replaces the entry"
        ),
        row(
            "4.3.3",
            "(MAY use a stored response after a status 5xx)",
            "with `stale-if-error` only",
            "stale-if-error: a stale entry is used within its time"
        ),
        row(
            "4.3.4",
            "MUST update only responses with the strong validator of the 304",
            "obeyed; a 304 that confirms something else is followed by a request without conditions. Tags are compared "
                + "weakly, because servers that compress send a weak tag with the body and a strong one with the 304",
            "a 304 with another strong entity tag confirms nothing"
        ),
        row(
            "4.3.4",
            "(a 304 without a validator)",
            "confirms the response whose validators were sent",
            "a 304 response selects the stored response with its validator"
        ),
        row("4.3.5", "HEAD", "is not sent", ""),
        row("4.4", "MUST invalidate after unsafe requests", "GET is the only method", ""),
    ]

    private static let directives = [
        row(
            "5.2",
            "MUST ignore unknown directives",
            "obeyed",
            "unknown directives are ignored, and arguments may be quoted"
        ),
        row(
            "5.2",
            "SHOULD accept tokens and quoted strings as arguments",
            "obeyed",
            "unknown directives are ignored, and arguments may be quoted"
        ),
        row(
            "5.2.1.1",
            "`max-age` of a request",
            "obeyed; the memory cache is skipped, as it does not record ages",
            "max-age: an entry of that age is used, an older one is confirmed"
        ),
        row(
            "5.2.1.2",
            "`max-stale`",
            "obeyed",
            "max-stale: an entry that has been stale for that time is used, an older one is confirmed"
        ),
        row(
            "5.2.1.3",
            "`min-fresh`",
            "obeyed",
            "min-fresh: an entry that stays fresh for longer is used, any other is confirmed"
        ),
        row(
            "5.2.1.4",
            "`no-cache` of a request",
            "obeyed",
            "no-cache: a fresh entry of the same key is confirmed, also one in memory"
        ),
        row(
            "5.2.1.5",
            "`no-store` of a request: MUST NOT store",
            "obeyed; an older entry stays",
            "no-store: nothing is kept"
        ),
        row("5.2.1.6", "`no-transform` of a request", "for intermediaries", ""),
        row(
            "5.2.1.7",
            "`only-if-cached`: SHOULD use a stored response or send 504",
            "the error is `cacheMiss`",
            "only-if-cached: no request is sent"
        ),
        row("5.2.2.1", "`max-age`", "obeyed", "the age counts from the request"),
        row(
            "5.2.2.2",
            "`must-revalidate`: MUST NOT reuse stale",
            "obeyed; it is an error, not status 504",
            "must-revalidate: a stale entry is not used if the origin cannot be reached"
        ),
        row(
            "5.2.2.3",
            "`must-understand`: SHOULD ignore `no-store` if the status is understood",
            "obeyed",
            "must-understand overrides no-store for a status that is understood"
        ),
        row(
            "5.2.2.4",
            "`no-cache`: MUST NOT use without validation",
            "obeyed; with field names the whole response is validated",
            "no-cache: the entry is confirmed before each use"
        ),
        row(
            "5.2.2.5",
            "`no-store`: MUST NOT store",
            "obeyed, on disk and in memory",
            "a response with no-store is not kept"
        ),
        row("5.2.2.6", "`no-transform`", "for intermediaries; images are decoded for the process itself", ""),
        row("5.2.2.7", "`private`: shared caches MUST NOT store", "not a shared cache", "a private response is kept"),
        row(
            "5.2.2.8",
            "`proxy-revalidate`",
            "for shared caches",
            "s-maxage and proxy-revalidate are for shared caches"
        ),
        row(
            "5.2.2.9",
            "`public`",
            "makes a response with any final status storable, and permits a heuristic lifetime",
            "the freshness lifetime follows from the response's fields"
        ),
        row("5.2.2.10", "`s-maxage`", "for shared caches", "s-maxage and proxy-revalidate are for shared caches"),
    ]

    private static let others = [
        row(
            "5.1",
            "MUST use the first member of an Age field, and ignore an invalid one",
            "obeyed",
            "the age counts from the generation of the response at its origin"
        ),
        row("5.3", "MUST ignore `Expires` beside `max-age`", "obeyed", "max-age overrides Expires"),
        row("5.3", "MUST treat an invalid date, especially `0`, as past", "obeyed", "Expires: 0 is in the past"),
        row(
            "5.4",
            "(`Pragma` is deprecated)",
            "`no-cache` is obeyed in a message without `Cache-Control`",
            "Pragma applies to a request without Cache-Control"
        ),
        row(
            "RFC 5861, 3",
            "`stale-while-revalidate`",
            "obeyed, except for responses that redirects led to",
            "stale-while-revalidate: a stale entry is used while it is confirmed"
        ),
        row(
            "RFC 5861, 4",
            "`stale-if-error`",
            "obeyed for 500, 502, 503, 504 and an origin that cannot be reached",
            "stale-if-error: a stale entry is used within its time"
        ),
        row(
            "RFC 8246, 2",
            "SHOULD NOT validate a fresh `immutable` response on a reload",
            "obeyed by `refreshCached`",
            "refreshCached leaves a fresh immutable response alone, and confirms a stale one"
        ),
        row(
            "RFC 9110, 15.4",
            "(redirects)",
            "a response is kept under a URL that redirects, if each of them may be stored, and is as fresh as the least "
                + "fresh of them; otherwise the last URL has the entry",
            "a 302 without a lifetime leads anew each time, to the entry of its target"
        ),
    ]
}
