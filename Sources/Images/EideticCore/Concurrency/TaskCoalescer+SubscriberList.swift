extension TaskCoalescer {
    /// The subscribers of one job; the common case of a single subscriber needs no dictionary.
    @usableFromInline
    struct SubscriberList {
        /// The earliest subscriber, until it leaves.
        @usableFromInline var first: Subscriber?
        /// The other subscribers, each with its position in the order of joining.
        @usableFromInline var others: [ObjectIdentifier: (position: UInt64, subscriber: Subscriber)] = [:]
        @usableFromInline var joinCount: UInt64 = 0

        @inlinable
        init() {}

        @inlinable var isEmpty: Bool { first == nil && others.isEmpty }

        @inlinable var inJoinOrder: [Subscriber] {
            let others = others.isEmpty ? [] : others.values.sorted { $0.position < $1.position }.map(\.subscriber)
            return first.map { [$0] + others } ?? others
        }

        @inlinable var highestPriority: LoadPriority? {
            let highest = others.isEmpty ? nil : others.values.lazy.map(\.subscriber.context.priority).max()
            guard let first = first?.context.priority else { return highest }
            return highest.map { max($0, first) } ?? first
        }

        @inlinable
        mutating func add(_ subscriber: Subscriber) {
            if isEmpty { first = subscriber; return }
            joinCount += 1
            others[ObjectIdentifier(subscriber)] = (joinCount, subscriber)
        }

        /// Removes a subscriber; returns `false` if it is not in the list.
        @inlinable
        mutating func remove(_ subscriber: Subscriber) -> Bool {
            guard first !== subscriber else { first = nil; return true }
            return others.removeValue(forKey: ObjectIdentifier(subscriber)) != nil
        }

        /// Returns `true` if another subscriber is at least as urgent as `subscriber`.
        @inlinable
        func containsAnother(asUrgentAs subscriber: Subscriber) -> Bool {
            func isAsUrgent(_ other: Subscriber) -> Bool {
                other !== subscriber && other.context.priority >= subscriber.context.priority
            }
            return first.map(isAsUrgent) ?? false || others.values.contains { isAsUrgent($0.subscriber) }
        }
    }
}
