extension Layout where Value: WireValue {
    @inlinable
    package static var value: Self {
        Self(
            write: { $0.write(to: &$1) },
            read: { reader throws(WireError) in try Value(from: &reader) }
        )
    }
}

extension Layout<String> {
    /// Text of at most `limit` bytes.
    @inlinable
    package static func text(limit: Int) -> Self {
        Self(
            write: { $1.append($0) },
            read: { reader throws(WireError) in try reader.text(limit: limit) }
        )
    }
}

extension Layout<[UInt8]> {
    /// At most `limit` bytes.
    @inlinable
    package static func bytes(limit: Int) -> Self {
        Self(
            write: { $1.append($0) },
            read: { reader throws(WireError) in try reader.blob(limit: limit) }
        )
    }
}

extension Layout<Int> {
    /// An integer of 64 bits within a range, by default any that is not negative.
    @inlinable
    package static func number(in range: ClosedRange<Int> = 0...Int.max) -> Self {
        Layout.value.validated { range.contains($0) }
    }
}

extension Layout<Double> {
    /// A number within a range, by default any that is finite.
    @inlinable
    package static func number(
        in range: ClosedRange<Double> = -Double.greatestFiniteMagnitude...Double.greatestFiniteMagnitude
    ) -> Self {
        Layout.value.validated { range.contains($0) }
    }
}

extension Layout {
    /// No bytes: what is read is always this value.
    @inlinable
    package static func constant(_ value: Value) -> Self where Value: Sendable {
        Self(write: { _, _ in }, read: { _ in value })
    }

    /// A Boolean value that is `false` for `nil`, and otherwise a value.
    @inlinable
    package static func optional<Wrapped>(_ wrapped: Layout<Wrapped>) -> Self where Value == Wrapped? {
        Self(
            write: { value, writer in
                writer.append(value != nil)
                if let value { wrapped.write(value, to: &writer) }
            },
            read: { reader throws(WireError) in try reader.boolean() ? try wrapped.read(from: &reader) : nil }
        )
    }

    /// A number of at most `limit` elements, each of which takes a byte or more, and the elements.
    @inlinable
    package static func list<Element>(
        _ element: Layout<Element>,
        limit: Int = WireReader.maximumListCount
    ) -> Self where Value == [Element] {
        Self(
            write: { list, writer in
                writer.append(UInt32(truncatingIfNeeded: list.count))
                for value in list { element.write(value, to: &writer) }
            },
            read: { reader throws(WireError) in
                let count = try reader.count(limit: limit)
                var list: [Element] = []
                for _ in 0..<count { list.append(try element.read(from: &reader)) }
                return list
            }
        )
    }

    /// A list of pairs in the order of the keys; of pairs with equal keys the last one counts.
    @inlinable
    package static func dictionary<Key: WireValue & Hashable, Element: WireValue>(
        by areInIncreasingOrder: @escaping @Sendable (Key, Key) -> Bool
    ) -> Self where Value == [Key: Element] {
        Layout<[DictionaryPair<Key, Element>]>.value.map(
            to: { pairs in Dictionary(pairs.map { ($0.key, $0.value) }) { $1 } },
            from: { dictionary in
                dictionary.sorted { areInIncreasingOrder($0.key, $1.key) }.map { DictionaryPair(key: $0, value: $1) }
            }
        )
    }

    @inlinable
    package func map<New>(
        to make: @escaping @Sendable (Value) -> New,
        from unmake: @escaping @Sendable (New) -> Value
    ) -> Layout<New> {
        Layout<New>(
            write: { write(unmake($0), to: &$1) },
            read: { reader throws(WireError) in make(try read(from: &reader)) }
        )
    }

    /// The layout of values that are made of others, of which not all are valid: `make` then returns `nil`.
    @inlinable
    package func compactMap<New>(
        to make: @escaping @Sendable (Value) -> New?,
        from unmake: @escaping @Sendable (New) -> Value
    ) -> Layout<New> {
        Layout<New>(
            write: { write(unmake($0), to: &$1) },
            read: { reader throws(WireError) in
                guard let value = make(try read(from: &reader)) else { throw .invalidValue(type: "\(New.self)") }
                return value
            }
        )
    }

    /// The same layout, which refuses other values.
    @inlinable
    package func validated(_ isValid: @escaping @Sendable (Value) -> Bool) -> Self {
        compactMap(to: { isValid($0) ? $0 : nil }, from: { $0 })
    }

    /// The same layout behind a number, without which a value is refused: a version, or a signature.
    @inlinable
    package func preceded<Number: WireValue & FixedWidthInteger>(by number: Number) -> Self {
        Self(
            write: { value, writer in
                writer.append(number)
                write(value, to: &writer)
            },
            read: { reader throws(WireError) in
                let found = try Number(from: &reader)
                guard found == number else {
                    throw .unknownCase(type: "\(Value.self)", value: UInt64(truncatingIfNeeded: found))
                }
                return try read(from: &reader)
            }
        )
    }
}

@usableFromInline
package struct DictionaryPair<Key: WireValue, Value: WireValue>: WireRecord {
    @usableFromInline let key: Key
    @usableFromInline let value: Value

    @usableFromInline
    init(key: Key, value: Value) {
        self.key = key
        self.value = value
    }

    @usableFromInline
    package static var layout: Layout<Self> { Layout(Self.init, \.key, \.value) }
}
