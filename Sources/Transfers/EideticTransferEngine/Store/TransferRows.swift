/// The transfers in memory, by their numbers.
///
/// The rows are in an array without gaps: a dictionary of them would have room for up to twice as many.
struct TransferRows: Sequence {
    private var rows: [TransferRow] = []
    private var places: [UInt64: UInt32] = [:]

    /// The numbers of the transfers, in no particular order.
    var keys: some Collection<UInt64> { places.keys }
    /// The transfers, in no particular order.
    var values: [TransferRow] { rows }

    subscript(number: UInt64) -> TransferRow? {
        get { places[number].map { rows[Int($0)] } }
        set {
            guard let place = places[number].map({ Int($0) }) else {
                if let newValue { append(newValue, number: number) }
                return
            }
            if let newValue { rows[place] = newValue } else { remove(at: place, number: number) }
        }
    }

    func makeIterator() -> AnyIterator<(UInt64, TransferRow)> {
        var iterator = rows.makeIterator()
        return AnyIterator { iterator.next().map { ($0.number, $0) } }
    }

    private mutating func append(_ row: TransferRow, number: UInt64) {
        places[number] = UInt32(rows.count)
        rows.append(row)
    }

    /// Moves the last row to the place.
    private mutating func remove(at place: Int, number: UInt64) {
        places[number] = nil
        let last = rows.removeLast()
        guard place < rows.count else { return }
        rows[place] = last
        places[last.number] = UInt32(place)
    }
}
