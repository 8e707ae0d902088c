import EideticCore

/// The place of one image among those that are decoded at a time; used by one thread.
final class UsePlace {
    private let pool: HelperPool
    private var isTaken = false

    init(in pool: HelperPool) { self.pool = pool }

    func begin(context: JobContext?) throws(EideticError) {
        try pool.beginUse(context: context)
        isTaken = true
    }

    /// Ends the use of the place, as of an image that is slow or waits for memory; has no effect the second time.
    func end() {
        if isTaken { pool.endUse() }
        isTaken = false
    }
}

extension ImageFormat {
    /// Returns the format of the first bytes; `nil` if they do not tell it.
    static func known(in bytes: UnsafeRawBufferPointer) -> ImageFormat? {
        guard case .format(let format) = detect(in: bytes) else { return nil }
        return format
    }
}
