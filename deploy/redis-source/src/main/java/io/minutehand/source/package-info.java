/**
 * Finds and runs server programs on this machine, whatever they serve: {@link io.minutehand.source.SourceChooser} chooses where a server comes from,
 * {@link io.minutehand.source.PrivateDirectory} holds its files and its processes, and takes both away.
 */
@NullMarked
package io.minutehand.source;

import org.jspecify.annotations.NullMarked;
