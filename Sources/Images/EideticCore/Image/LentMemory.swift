import Synchronization

/// Memory that others share, which allocations of one size take first.
///
/// A decode in another process than its caller's writes its pixels where the caller reads them, without a copy.
package enum LentMemory {
    private struct Loan: @unchecked Sendable {
        // Safe to send: an address, whose parts have one owner each.
        let base: UnsafeMutableRawPointer
        let partSize: Int
        let count: Int
        var freeParts: [Int]
    }

    private static let loan = Guarded<Loan?>(nil)
    /// The number of the current loan, 0 while there is none: allocations then pay for one read.
    private static let number = Atomic<Int>(0)
    private static let lastNumber = Atomic<Int>(0)

    /// Lends memory of `count` parts, each of which serves one allocation of exactly `partSize` bytes, until
    /// ``reclaim()``.
    ///
    /// No part may be in use after that.
    package static func lend(_ base: UnsafeMutableRawPointer, partSize: Int, count: Int) {
        // The first part first.
        loan.withLock { $0 = Loan(base: base, partSize: partSize, count: count, freeParts: (0..<count).reversed()) }
        number.store(lastNumber.add(1, ordering: .relaxed).newValue, ordering: .releasing)
    }

    package static func reclaim() {
        number.store(0, ordering: .relaxed)
        loan.withLock { $0 = nil }
    }

    package static var isActive: Bool { number.load(ordering: .relaxed) != 0 }

    /// Returns the number of the part at an address; `nil` if the memory is not lent.
    package static func part(at address: UnsafeRawPointer) -> Int? {
        loan.withLock { loan in
            guard let loan, address >= UnsafeRawPointer(loan.base) else { return nil }
            let offset = UnsafeRawPointer(loan.base).distance(to: address)
            let (part, remainder) = offset.quotientAndRemainder(dividingBy: loan.partSize)
            return remainder == 0 && part < loan.count ? part : nil
        }
    }

    /// Returns the number of a free part, which is no longer free.
    package static func takePart() -> Int? { loan.withLock { $0?.freeParts.popLast() } }

    static func allocate(byteCount: Int) -> PixelMemory.Block? {
        let number = number.load(ordering: .relaxed)
        guard number != 0 else { return nil }
        return loan.withLock { loan in
            guard let current = loan, current.partSize == byteCount, let part = loan?.freeParts.popLast() else {
                return nil
            }
            return PixelMemory.Block(memory: current.base + part * byteCount, region: nil, loan: number)
        }
    }

    static func deallocate(_ memory: UnsafeMutableRawPointer, of ended: Int) {
        guard ended == number.load(ordering: .relaxed), let part = part(at: memory) else { return }
        loan.withLock { $0?.freeParts.append(part) }
    }
}
