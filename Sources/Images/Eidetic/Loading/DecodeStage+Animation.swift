import EideticCodecs
import EideticCore
import EideticSandbox

extension DecodeStage {
    /// A decoder of single frames and the first one.
    struct OpenedAnimation {
        let source: any FrameSource
        let poster: PixelBuffer
    }

    /// Opens an animation in the process that the policy names, and decodes its first frame.
    ///
    /// - Returns: `nil` if the bytes are no animation, or its first frame has not arrived.
    func openAnimation(
        _ bytes: [UInt8],
        isComplete: Bool,
        by policy: RenditionPolicy,
        context: JobContext?
    ) throws(EideticError) -> OpenedAnimation? {
        let options = policy.options { () throws(EideticError) in
            try header(of: bytes, by: policy, context: context)
        }
        let decodeOptions = isComplete ? options : policy.options
        return try policy.decodePolicy.perform(reading: bytes, in: sandbox) { () throws(EideticError) in
            let source = try AnimationDecoder(
                bytes,
                isComplete: isComplete,
                options: decodeOptions,
                transform: policy.animationTransform,
                maximumCopyBytes: AnimatedImage.standardWindow.bytes,
                limits: limits,
                waitsForMemory: context != nil,
                context: context ?? JobContext()
            )
            return try source.map { source throws(EideticError) in
                OpenedAnimation(source: source, poster: try source.firstFrame(context: context ?? JobContext()))
            }
        } sandboxed: { pool throws(EideticError) in
            let source = try SandboxedAnimation(
                bytes,
                isComplete: isComplete,
                options: decodeOptions,
                transform: policy.animationTransform,
                maximumCopyBytes: AnimatedImage.standardWindow.bytes,
                limits: limits,
                pool: pool,
                context: context,
                pausing: pools.sandboxed
            )
            return try source.map { source throws(EideticError) in
                OpenedAnimation(source: source, poster: try source.firstFrame(context: context))
            }
        }
    }
}
