extension TaskCoalescer {
    /// Those who wait for one job: mostly one, for whom no table is made.
    @usableFromInline
    struct SubscriberList {
        /// Who came first, until it leaves.
        @usableFromInline var first: Subscriber?
        /// All others, with the number of their arrival.
        @usableFromInline var others: [ObjectIdentifier: (number: UInt64, subscriber: Subscriber)] = [:]
        @usableFromInline var joinCount: UInt64 = 0

        @inlinable
        init() {}

        @inlinable var isEmpty: Bool { first == nil && others.isEmpty }

        @inlinable var inJoinOrder: [Subscriber] {
            let others = others.isEmpty ? [] : others.values.sorted { $0.number < $1.number }.map(\.subscriber)
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

        /// Takes one out; false where it is not there.
        @inlinable
        mutating func remove(_ subscriber: Subscriber) -> Bool {
            guard first !== subscriber else { first = nil; return true }
            return others.removeValue(forKey: ObjectIdentifier(subscriber)) != nil
        }

        /// Whether somebody else wants it as urgently as `subscriber` does.
        @inlinable
        func containsAnother(asUrgentAs subscriber: Subscriber) -> Bool {
            func isAnother(_ other: Subscriber) -> Bool {
                other !== subscriber && other.context.priority >= subscriber.context.priority
            }
            return first.map(isAnother) ?? false || others.values.contains { isAnother($0.subscriber) }
        }
    }
}
