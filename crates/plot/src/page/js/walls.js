// Draws bodies and walls, faintly and from both sides, so that the particles within are seen.
function drawWalls(view) {
  const tint = channels(themeColors().text).map((value) => value / 255);
  for (const { kind, position, strength } of walls) {
    const name = `${kind}-${camera.equal}`;
    if (position.length === 0) continue;
    let buffer = card.walls.get(position);
    if (!buffer || buffer.name !== name) {
      if (buffer) gl.deleteBuffer(buffer.vertices);
      const list = new Float32Array(position.length);
      for (let at = 0; at < position.length; at += 3) list.set(toScene([...position.subarray(at, at + 3)]), at);
      buffer = { name, vertices: gl.createBuffer() };
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer.vertices);
      gl.bufferData(gl.ARRAY_BUFFER, list, gl.STATIC_DRAW);
      card.walls.set(position, buffer);
    }
    const { program, uniforms } = card.plane;
    gl.useProgram(program);
    gl.uniformMatrix4fv(uniforms.matrix, false, view.matrix);
    gl.uniform4fv(uniforms.tint, [...tint, strength]);
    gl.bindTexture(gl.TEXTURE_2D, card.white);
    gl.bindVertexArray(card.planes);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer.vertices);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 12, 0);
    gl.disableVertexAttribArray(1);
    gl.drawArrays(kind === 'lines' ? gl.LINES : gl.TRIANGLES, 0, position.length / 3);
  }
}
