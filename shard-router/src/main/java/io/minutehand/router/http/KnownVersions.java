package io.minutehand.router.http;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.ReferenceCountUtil;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.net.impl.ConnectionBase;

/**
 * Has requests of any version but HTTP/1.0 and 1.1 refused like all that is malformed: what follows on the connection is not looked at. Vert.x would answer
 * 501, an error of the server; but the server is well, the request is not. Belongs to its connection.
 */
final class KnownVersions extends ChannelInboundHandlerAdapter {
    private boolean refused;

    private KnownVersions() {}

    /** Watches over a connection from its first request on. */
    static void requireOn(HttpConnection connection) {
        if (connection instanceof ConnectionBase base) {
            var pipeline = base.channel().pipeline();
            ChannelHandlerContext decoder = pipeline.context(HttpRequestDecoder.class);
            if (decoder != null) {
                pipeline.addAfter(decoder.name(), "knownVersions", new KnownVersions());
            }
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (refused) {
            ReferenceCountUtil.release(message);
        } else if (message instanceof HttpRequest request
                && request.decoderResult().isSuccess()
                && !isKnown(request.protocolVersion())) {
            refused = true;
            // As the decoder hands on what it cannot read.
            DefaultFullHttpRequest malformed = new DefaultFullHttpRequest(
                    HttpVersion.HTTP_1_1, request.method(), request.uri(), Unpooled.EMPTY_BUFFER);
            malformed.setDecoderResult(
                    DecoderResult.failure(new IllegalArgumentException("version " + request.protocolVersion())));
            ReferenceCountUtil.release(message);
            context.fireChannelRead(malformed);
        } else {
            context.fireChannelRead(message);
        }
    }

    /** By identity, as Vert.x does: "HtTP/1.1" is read as another one. */
    @SuppressWarnings("ReferenceEquality")
    private static boolean isKnown(HttpVersion version) {
        return version == HttpVersion.HTTP_1_1 || version == HttpVersion.HTTP_1_0;
    }
}
