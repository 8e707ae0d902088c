#if Redis
import CHiredis

/// A reply that the reader of hiredis builds: the bytes of a value are copied once, from the reader's buffer.
private final class ReplyBuilder {
    private var value: RedisReply
    private var elements: [ReplyBuilder] = []

    init(_ value: RedisReply) { self.value = value }

    var reply: RedisReply {
        if case .array = value { .array(elements.map(\.reply)) } else { value }
    }

    /// The largest number of arrays within each other, one less than hiredis 0.14 reads; later versions have no limit.
    private static let depthLimit = 7

    /// Returns whether an array is within too many others; the reader fails for an array that is not created.
    static func isTooDeep(_ task: UnsafePointer<redisReadTask>?) -> Bool {
        var depth = 1
        var parent = task?.pointee.parent
        while let current = parent { (depth, parent) = (depth + 1, current.pointee.parent) }
        return depth > depthLimit
    }

    /// Adds a part to the array that it belongs to; hiredis owns the outermost one only.
    static func add(_ value: RedisReply, as task: UnsafePointer<redisReadTask>?) -> UnsafeMutableRawPointer {
        let builder = ReplyBuilder(value)
        guard let array = task?.pointee.parent?.pointee.obj else { return Unmanaged.passRetained(builder).toOpaque() }
        Unmanaged<ReplyBuilder>.fromOpaque(array).takeUnretainedValue().elements.append(builder)
        return Unmanaged.passUnretained(builder).toOpaque()
    }
}

extension RedisReply {
    /// Takes over a reply of a reader with ``functions``.
    init(adopting pointer: UnsafeMutableRawPointer) {
        self = Unmanaged<ReplyBuilder>.fromOpaque(pointer).takeRetainedValue().reply
    }

    /// The functions with which hiredis builds replies; they are never freed.
    nonisolated(unsafe) static let functions: UnsafeMutablePointer<redisReplyObjectFunctions> = {
        // Written here, before the first use; hiredis only reads it.
        let functions = UnsafeMutablePointer<redisReplyObjectFunctions>.allocate(capacity: 1)
        functions.initialize(to: redisReplyObjectFunctions())
        functions.pointee.createString = { task, start, count in
            let bytes = UnsafeRawBufferPointer(start: start, count: count)
            return ReplyBuilder.add(RedisReply(bytes, ofType: task?.pointee.type), as: task)
        }
        functions.pointee.createArray = { task, _ in
            ReplyBuilder.isTooDeep(task) ? nil : ReplyBuilder.add(.array([]), as: task)
        }
        functions.pointee.createInteger = { task, value in ReplyBuilder.add(.integer(Int(value)), as: task) }
        functions.pointee.createNil = { task in ReplyBuilder.add(.null, as: task) }
        functions.pointee.freeObject = { pointer in pointer.map { _ = RedisReply(adopting: $0) } }
        return functions
    }()

    private init(_ bytes: UnsafeRawBufferPointer, ofType type: Int32?) {
        self =
            switch type {
            case REDIS_REPLY_STATUS: .status(String(decoding: bytes, as: UTF8.self))
            case REDIS_REPLY_ERROR: .error(String(decoding: bytes, as: UTF8.self))
            default: .bytes(Array(bytes))
            }
    }
}
#endif
