package import EideticHTTP

/// The entries of a cache that stand in for the targets of redirects.
package struct RedirectEntries: Sendable, Hashable {
    private let cache: any RedirectCache
    /// The settings that keys of entries depend on, besides the request itself.
    package let keyOptions: KeyOptions

    /// The settings that keys of entries depend on.
    package struct KeyOptions: Sendable, Hashable {
        package let ignoredQueryItems: Set<String>
        package let suffix: String

        package init(ignoredQueryItems: Set<String>, suffix: String) {
            self.ignoredQueryItems = ignoredQueryItems
            self.suffix = suffix
        }
    }

    package init(in cache: any RedirectCache, keyOptions: KeyOptions) {
        self.cache = cache
        self.keyOptions = keyOptions
    }

    func entry(for target: FetchRequest) async -> RedirectEntry? {
        await cache.entry(for: target, keyOptions: keyOptions)
    }

    /// Returns a Boolean value indicating whether both are entries of the same cache with the same keys.
    package static func == (left: RedirectEntries, right: RedirectEntries) -> Bool {
        left.cache === right.cache && left.keyOptions == right.keyOptions
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(keyOptions) }
}

/// A cache that has entries for the targets of redirects.
package protocol RedirectCache: AnyObject, Sendable {
    /// Returns the entry for the target of a redirect; `nil` if there is none that could be used.
    func entry(for target: FetchRequest, keyOptions: RedirectEntries.KeyOptions) async -> RedirectEntry?
}

/// The state of the cache's entry for the target of a redirect.
package enum RedirectEntry: Sendable {
    /// The entry may be used without a request.
    case fresh
    /// The entry may be used if the server confirms it under these conditions.
    case stale(conditions: HTTPHeaders)
}
