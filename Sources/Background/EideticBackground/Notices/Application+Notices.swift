extension Application {
    /// Returns a new stream of the notices with a name.
    ///
    /// Notices held during suspension are delivered before any callback; a consumer may still be handling them when the
    /// callback arrives. ``Notice/Name`` lists the system's notices, which are posted only after the application was
    /// started.
    ///
    /// - Parameters:
    ///   - name: The kind of notices.
    ///   - suspensionBehavior: The treatment of notices while the application is suspended.
    /// - Returns: A stream of every later notice with this name.
    public func notices(
        named name: Notice.Name,
        suspensionBehavior: SuspensionBehavior = .coalesce
    ) -> AsyncStream<Notice> {
        let stream = noticeCenter.stream(for: name, behavior: suspensionBehavior)
        noticeSources.subscribe(to: name)
        inbox.wake()
        return stream
    }

    /// Posts a notice to all observers of its name.
    public func post(_ notice: Notice) { noticeCenter.post(notice) }
}
